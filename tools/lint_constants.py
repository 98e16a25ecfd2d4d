#!/usr/bin/env python3
"""Refuses figures of the world in src/: they stand in catalog/, with source and confidence.

Six kinds of figure give themselves away: a spread that is a literal (`x_spread = 0.3`, `.spread = 0.3f`), a named
floating-point constant, a rate, a literal of a million or more that is no power of ten (or a power of ten behind
`? x :`, as where something is unknown), a factor (`rate * 0.96`, but not behind `<` or `>`, where it is a threshold), a
default (`said ? x : 0.01`), and a figure that src/base has a name for. What is a definition, a limit of a check or a
constant of a numerical method is listed below with its reason. Prints FILE:LINE: what is wrong and where it belongs;
exits 1 then.
"""
import re
import sys
from pathlib import Path

# Constants that are no figures of the world: FILE: {NAME: why}.
DEFINITIONS = {
    "scaling_fit.c": {"expected": "priors of a fit"},
    "step_fit.c": {"expected": "priors of a fit", "priors": "candidates of a fit"},
    "exchange_rows_read.c": {"largest_bytes": "limit of a check"},
    "kernel_rows.c": {"shortest_s": "limit of a check", "longest_s": "limit of a check"},
    "shape_text.c": {"largest_dimension": "limit of a check"},
    "size_cell.c": {"largest_size": "limit of a check"},
    "base_time.c": {"shortest_s": "bounds of a search", "longest_s": "bounds of a search", "step": "step of a search"},
    "formula.c": {"pace_usual_compute": "what the shares of costs.yaml are relative to",
                  "pace_usual_memory": "what the shares of costs.yaml are relative to"},
    "formula_embedding.c": {"offset_bytes": "definition: sectors of an offset",
                            "warps_per_sm": "fitted with the formula it is part of",
                            "cache_share": "fitted with the formula it is part of"},
    "formula_gemm.c": {"usual_hz": "the clock that fixed_s of costs.yaml is given at",
                       "waiting_step_s": "fitted with the formula it is part of",
                       "step_s": "fitted with the formula it is part of", "longest": "fitted with the formula it is part of",
                       "in_order": "fitted with the formula it is part of", "wider": "fitted with the formula it is part of"},
    "tiles.c": {"pace_tile_m": "sizes of tiles, by which kernels are named", "pace_tile_n": "as pace_tile_m",
                "tile_share": "follows from the sizes, as the comment says", "all_whole": "2^52: a definition", "rounding": "rounding",
                "start_and_end": "fitted with the formula it is part of",
                "splitting": "fitted with the formula it is part of", "shortest_k": "fitted with the formula it is part of"},
    "host_costs_catalog.c": {"MOST_US": "limit of a check", "MOST_PARAMETERS": "limit of a check"},
    "host_transfer.c": {"widths": "candidates of a fit"},
    "learn_features.h": {"rounding": "rounding"},
    "learn_features.c": {"field_reach": "constant of kriging", "nugget": "constant of kriging", "loose": "constant of kriging",
                         "tight": "constant of kriging", "least_doubt": "regulariser; far_spread is fitted on top"},
    "learn_fit.c": {"floor_of_errors": "regulariser of a fit", "spread": "start of a fit",
                    "far_spread": "start of a fit, kept where one device leaves none to hold out",
                    "reaches": "candidates of a fit", "shares": "candidates of a fit"},
    "calibration.c": {"probe_from_bytes": "where sizes are probed", "probe_to_bytes": "where sizes are probed"},
    "exchange.c": {"reduce_s_per_byte": "0: a definition"},
    "device_resolve.c": {"least": "limit of a check"},
    "spread.c": {"spread": "a normal's standard deviation over its median absolute deviation"},
    "curve_shapes.c": {"amplitudes": "grid of an integral", "waits": "grid of an integral"},
    "curve_noise.c": {"most_apart": "which sizes are neighbours"},
    "rates.c": {"no_load": "rounding"},
    "size_reversals.c": {"visible": "times are printed with four digits"},
    "usage.c": {"irregular": "threshold of a test", "clock_change_s": "an hour: a definition"},
    "usage_overlaps.c": {"least_s": "a minute: a definition"},
    "usage_row.c": {"other_unit": "tells units apart: a definition"},
    "usage_samples.c": {"FEWEST_MS": "tells the units of a format apart"},
    "fleet_moves.c": {"MOST_BOUNDED": "ln 2: a definition", "MARGIN": "rounding"},
    "sum.c": {"UNITS": "number format", "MOST_PLAIN": "number format", "MOST_TIMED": "number format"},
    "slow_groups.c": {"LEAST_APART": "threshold of a test", "ERRORS_APART": "threshold of a test",
                      "STEP_APART": "threshold of a test"},
    "variability.c": {"DRIFT": "threshold of a test", "REACH": "threshold of a test"},
    "ledger.c": {"ROUNDING": "rounding"},
    "self_check.c": {"rounding": "rounding"},
    "fit_range.c": {"rounding": "rounding"},
    "step_row_check.c": {"MOST": "limit of a check"},
    "unit_doubt.c": {"usual_ratio": "threshold of a remark"},
    "host_tree.c": {"MOST_BYTES_PER_S": "limit of a check"},
    "config.c": {"MOST": "limit of a check"},
    "host.c": {"MOST_S": "limit of a check", "MOST_BYTES": "limit of a check"},
    "partition_search.c": {"values": "candidates of a search"},
    "layer.c": {"most": "limit of a check"},
    "buckets.h": {"first_bytes": "the algorithm of DistributedDataParallel: its first bucket is of 1 MiB"},
    "model_totals.c": {"states": "bytes of optimizer states: definitions"},
    "flows_region.c": {"same_instant": "rounding"},
    "nccl_steady.c": {"first_changes": "where marks are closer", "most_bytes": "limit of a check",
                      "falls_to": "how far a search goes"},
    "flows_active.c": {"nearly_none": "rounding"},
    "step_spread.c": {"more": "the step of a difference quotient"},
    "usage_words.c": {"no_seconds": "limit of a check"},
    "walk.c": {"longest_walk_ns": "limit of a check", "unchanged": "1: a definition"},
    "op.c": {"latent": "ratio of a published layer's sizes"},
    "job_doubt.c": {"as_it_is": "1: a definition", "nothing": "0: a definition"},
    "report_fleet_charts.c": {"quantiles": "what a chart shows"},
    "report_models.c": {"most_counted": "limit of a number format"},
    "report_step.c": {"LARGE_PARAMETERS": "what a note speaks of"},
    "report_fleet_jobs.c": {"most_ns": "limit of a number format"},
    "show.c": {"SCALE": "number format", "UNIT_NS": "units"},
}
# Literals that are no rates, factors or defaults of the world: FILE: {LITERAL: why}.
LITERALS = {
    "units.c": {"1.25e8": "unit", "1.25e5": "unit", "365.25": "unit"},
    "exchange_rows.c": {"1.25e8": "unit"},
    "formula_gemm.c": {"1.41e9": "as usual_hz above"},
    "sample.c": {"1.4e9": "normalises a feature of a fit"},
    "nccl.c": {"25e9": "a test of NCCL's source, graph/tuning.cc", "50e9": "a test of NCCL's source, graph/tuning.cc"},
    "rate_text.c": {"9e12": "limit of a number format"},
    "plan_words.c": {"365.25": "unit"},
    "held_out.c": {"0.9": "nine of ten: what an interval holds"},
    "learn_fit.c": {"0.9": "nine of ten: what an interval holds"},
    "case_metric.c": {"0.9": "the 90th percentile", "0.95": "the 95th percentile"},
    "scaling_fit.c": {"0.05": "scale of a fit's parameter", "0.01": "scale of a fit's parameter"},
    "saturating_curve.c": {"0.2": "step of a search"},
    "exchange.c": {"0.75": "threshold of a remark"},
    "plan_space.c": {"1.5": "3 x 2^n: sizes that are tried"},
    "gradients.c": {"0.45": "of an approximation of the variance of the largest of n normals"},
}
# Figures that src/base has a name for.
NAMED = {1.6448536269514722: "PACE_NORMAL_90", 0.8224268134757361: "PACE_NORMAL_90 / 2", 1.4826: "PACE_NORMAL_MAD"}
PLAIN = {0.5, 10, 100, 1024, 1 << 20, 1 << 30, 1 << 40}
NUMBER = r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?(?![\w.])"
SPREAD = re.compile(r"\b(\w*spread\w*)\s*=\s*(" + NUMBER + ")")
CONSTANT = re.compile(r"(?:^|(?<=\n))[ \t]*(?:static\s+const|const)\s+(?:double|float)\s+([^;()]*=[^;]*);", re.S)
FALLBACK = re.compile(r"\?[^:;?]*:\s*(" + NUMBER + ")")
FACTOR = re.compile(r"[*/]\s*(" + NUMBER + ")|(?<![<>])(?<![<>]=)(?<![<>] )(?<![<>]= )(" + NUMBER + r")\s*[*/]")
ADVICE = {
    "spread": "a spread belongs in catalog/doubts.yaml, with source, confidence and what removes it",
    "constant": "a figure of the world belongs in catalog/ with source and confidence (of an assumption: doubts.yaml); "
                "a definition is listed with its reason in tools/lint_constants.py",
    "rate": "a rate belongs in catalog/: of a device in devices.yaml, assumed where nothing says in doubts.yaml",
    "factor": "a factor of the world belongs in catalog/ with source and confidence; a definition is listed with its "
              "reason in tools/lint_constants.py",
    "default": "a default stands once, where it has a name, or in catalog/",
}


def code_of(text):
    """The text with comments and strings blanked, lines kept."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


def declared(declarators):
    """Names of `a = 1, b[] = {2, 3}` and their initialisers."""
    depth, begin, parts = 0, 0, []
    for i, c in enumerate(declarators):
        depth += (c in "{([") - (c in "})]")
        if c == "," and depth == 0:
            parts.append(declarators[begin:i])
            begin = i + 1
    for part in parts + [declarators[begin:]]:
        name, _, value = part.partition("=")
        match = re.search(r"\w+", name)
        if match and re.search(NUMBER, value):
            yield match.group(0)


def is_odd(text):
    """Whether a literal is neither whole nor a power of ten or two."""
    mantissa = re.match(r"[\d.]+", text).group(0)
    value = float(text.rstrip("fF"))
    return ("." in text or "e" in text.lower()) and float(mantissa) != 1 and value not in PLAIN and not (
        value == int(value) and value < 1e6)


def check(path, text):
    code = code_of(text)
    line = lambda at: code.count("\n", 0, at) + 1
    literals, names = LITERALS.get(path.name, {}), DEFINITIONS.get(path.name, {})
    for m in SPREAD.finditer(code):
        if float(m.group(2).rstrip("fF")) not in (0, 1) and m.group(1) not in names:
            yield line(m.start(1)), f"{m.group(1)} = {m.group(2)}: {ADVICE['spread']}"
    for m in CONSTANT.finditer(code):
        local = re.match(r"[ \t]+const", m.group(0))  # of a block, not kept: an expression's name
        for name in declared(m.group(1)):
            if name not in names and not local and "spread" not in name:
                yield line(m.start(1)), f"constant {name}: {ADVICE['constant']}"
    for m in re.finditer(NUMBER, code):
        mantissa, exponent = re.match(r"([\d.]+)(?:[eE]([-+]?\d+))?", m.group(0)).groups()
        if exponent and float(m.group(0).rstrip("fF")) >= 1e6 and float(mantissa) not in (1, 9) and m.group(0) not in literals:
            yield line(m.start()), f"{m.group(0)}: {ADVICE['rate']}"
    for m in FALLBACK.finditer(code):
        value = float(m.group(1).rstrip("fF"))
        if 1e6 <= value and "e" in m.group(1).lower() and m.group(1) not in literals and value not in (1e6, 1e9):
            yield line(m.start(1)), f"{m.group(1)} where something is unknown: {ADVICE['rate']}"
        elif is_odd(m.group(1)) and m.group(1) not in literals:
            yield line(m.start(1)), f"{m.group(1)}: {ADVICE['default']}"
    for m in FACTOR.finditer(code):
        literal = m.group(1) or m.group(2)
        if path.parent.parent.name != "report" and is_odd(literal) and literal not in literals:
            yield line(m.start()), f"{literal}: {ADVICE['factor']}"
    for m in re.finditer(NUMBER, code):
        for value, name in NAMED.items():
            if abs(float(m.group(0).rstrip("fF")) / value - 1) < 2e-4:
                yield line(m.start()), f"{m.group(0)}: src/base has {name}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    faults, files = [], 0
    for path in sorted((root / "src").rglob("*.[ch]")):
        if path.parent.name == "base":
            continue
        files += 1
        faults += [(path, line, what) for line, what in check(path, path.read_text(encoding="utf-8"))]
    for path, line, what in faults:
        print(f"{path.relative_to(root)}:{line}: {what}")
    if not faults:
        print(f"constants: {files} files hold no figure of the world")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
