"""Tables as they are printed and pasted, with blanks between their columns, are answered as the same table in CSV."""
import csv
import io
import json
import os
import sys
import tempfile

from checks import expect, expect_line, finish, run

HEAD, ROWS = ("M", "N", "K", "dtype", "time_us"), (("1024", "1024", "1024", "fp16", "21.0"), ("4096", "4096", "4096", "bf16", "520.5"))


def padded(head, rows, widths, right=False):
    def line(cells):
        return "".join(c.rjust(w) if right else c.ljust(w) for c, w in zip(cells, widths)).rstrip()
    return [line(head)] + [line(row) for row in rows]


def answered(folder, text, *words):
    path = os.path.join(folder, "table.txt")
    with open(path, "w") as file:
        file.write(text)
    code, out, err = run("predict", "--on", "a100", "--rows", path, *words, "-f", "csv")
    return code, list(csv.DictReader(io.StringIO(out))), err, path


def main():
    with tempfile.TemporaryDirectory(prefix="paceline-pasted-") as folder:
        _, wanted, _, _ = answered(folder, "\n".join(",".join(row) for row in (HEAD,) + ROWS) + "\n")
        expect([row["status"] for row in wanted] == ["ok", "ok"], "as CSV", wanted)
        left, right = padded(HEAD, ROWS, (6, 6, 6, 7, 9)), padded(HEAD, ROWS, (8, 7, 7, 8, 10), True)
        single = [" ".join(row) for row in (HEAD,) + ROWS]
        rule = "-----  ----  ----  -----  -------"
        pandas = [" " * 4 + right[0]] + [f"{i:<4}{line}" for i, line in enumerate(right[1:])]
        for lines in (left, right, single, [left[0], rule] + left[1:], [single[0], "==== ==== ==== ===== ======="] + single[1:], ["gemm-performance:"] + pandas, pandas + ["", "[2 rows x 5 columns]"],
                      ["", "# a remark"] + left, [line + "   " for line in left], [line.replace("\n", "\r\n") for line in left]):
            for end in ("\n", "\r\n"):
                code, rows, err, _ = answered(folder, end.join(lines) + end)
                expect(code == 0 and [{k: row[k] for k in wanted[0]} for row in rows] == wanted, lines, code, rows, err)
        # names of two words: two blanks part columns then, and cells may have one
        text = "GPU            batch size   model      step time (ms)\n-------------  -----------  ---------  --------------\nNVIDIA A100    32           resnet50   120.5\n"
        code, rows, err, _ = answered(folder, text)
        _, same, _, _ = answered(folder, "GPU,batch size,model,step time (ms)\nNVIDIA A100,32,resnet50,120.5\n")
        expect(code == 0 and rows == same and rows[0]["batch size"] == "32", "words", rows, same, err)
        # a list of records is the same table: JSON, an object a line, YAML; members of an object inside are OUTER_INNER
        records = [dict(zip(HEAD, row)) for row in ROWS]
        inside = [{"M": r["M"], "N": r["N"], "K": r["K"], "dtype": r["dtype"], "time": {"us": float(r["time_us"])}, "tags": [1]} for r in records]
        for text in (json.dumps(records), json.dumps(records, indent=1), "\n".join(map(json.dumps, records)) + "\n", json.dumps(inside),
                     "".join("- " + "  ".join(f"{k}: {v}\n" for k, v in r.items()) for r in records)):
            code, rows, err, _ = answered(folder, text)
            expect(code == 0 and [{k: row[k] for k in wanted[0]} for row in rows] == wanted, text, rows, err)
        code, _, err, path = answered(folder, "[[1, 2], [3, 4]]")
        expect_line(code, err, 3, path, "expected a record of named values")
        # a row that is torn is told by its line; of a list of words, which is no table, nothing is made
        code, _, err, path = answered(folder, "\n".join(left + ["1024  1024"]) + "\n")
        expect_line(code, err, 3, f"{path}:4: expected 5 cells as in the header, found 2")
        code, _, err, path = answered(folder, "two words\nare there\n")
        expect_line(code, err, 3, path, "no column names the sizes", 'a column "model"')
        code, _, err, path = answered(folder, left[0] + "\n" + left[1].replace("fp16", "\0") + "\n")
        expect_line(code, err, 3, path, "NUL byte")
    return finish()


sys.exit(main())
