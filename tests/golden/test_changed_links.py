"""A machine whose links are given anew: the same figures are the same machine, other rates keep what else is known of its links, and links of
another kind bring nothing of the old ones."""
from checks import expect, finish, json_of, run

SIZES = "16,64K,8M,1G"


def times(on, *words):
    answer = json_of("predict", "--kind", "exchange", "--on", on, "--bytes", SIZES, "-q", *words)
    return [row["time_us"] for row in answer["sizes"]] if answer else []


def refused(on, *said):
    code, _, err = run("predict", "--kind", "exchange", "--on", on, "--bytes", "1M")
    expect(code == 2 and all(text in err for text in said), on, code, err)


# Who writes down the figures that `paceline machines` shows has not changed them.
for machine in json_of("machines")["machines"]:
    name, inside, card = machine["name"], machine["inside_bytes_per_s"], machine["nic_bytes_per_s"]
    if inside:
        expect(times(name) == times(f"{name} {machine['inside']}={inside / 1e9:g}GB/s") == times(f"{name} {machine['inside']}=1x"), name, "inside")
    if card:
        expect(times(name + "*2") == times(f"{name}*2 net={card / 1e9:g}GB/s"), name, "between")
        expect(times(name + "*2") == times(f"{name}*2 net-kind={machine['between']} net=1x"), name, "between, by its kind")

# What the answer says links of twice the rate save is what they save; as fast as two, so two factors.
said = json_of("predict", "--kind", "exchange", "--on", "dgx-h100*4", "--bytes", "1G", "-q")
network = next(row for row in said["help"] if row["change"].startswith("network twice"))
plain, fast = (times("dgx-h100*4" + change)[-1] for change in ("", " net=2x"))
expect(abs(1 - fast / plain - network["largest_saved_share"]) < 1e-6, network, plain, fast)
expect(times("dgx-h100*4 net=2x") == times("dgx-h100*4 net=100GB/s"), "a factor is a rate")

# A DGX-1 has bricks between its devices: half of their rate is half of it message by message too.
plain, slow = (times("dgx-1-v100" + change, "--simulate", "--algorithm", "ring")[-1] for change in ("", " nvlink=0.5x"))
expect(1.9 * plain < slow < 2.1 * plain, plain, slow)

# PCIe has no switch that adds, and its devices no NVLink: the node of catalogued boxes is the node of those devices, but for what a call costs.
answer = json_of("predict", "--kind", "exchange", "--on", "dgx-h100 pcie=60GB/s", "--bytes", SIZES, "-q")
expect(all(not row["algorithm"].startswith("nvls") for row in answer["sizes"]), answer["sizes"])
for box, devices, link in (("dgx-h100", "h100-80-sxm*8", "pcie=60GB/s"), ("dgx-1-v100", "v100-sxm2-16*8", "pcie=12GB/s"), ("pcie-8x4090", "rtx-4090*8", "nvlink=100GB/s"),
                           ("dgx-a100", "a100-40-sxm*8", "pcie=25GB/s")):
    expect(times(f"{box} {link} launch=8us") == times(f"{devices} {link} launch=8us"), box, link)
# Consumer boards reach each other through the host's memory, whoever holds them.
expect(times("pcie-8x4090 nvlink=100GB/s launch=8us")[-1] < times("rtx-4090*8 pcie=24GB/s launch=8us")[-1], "NVLink is faster than PCIe by way of the host")

# Another kind of network has that kind's share, latency and connections, in whichever order the words stand.
for words in ("net-kind=infiniband net=12.5GB/s", "net=12.5GB/s net-kind=infiniband"):
    expect(times("p3dn*2 " + words) == times("p3dn*2 net-kind=infiniband"), words)
expect(times("p3dn*2 net-kind=infiniband")[0] < times("p3dn*2")[0], "EFA's latency is not InfiniBand's")

refused("mi300x-node nvlink=448GB/s", "NVIDIA", "xgmi=")
refused("dgx-h100 xgmi=448GB/s", "AMD", "nvlink=")
refused("h100-80-sxm*8 nvlink=2x", "2x", "300GB/s")
refused("dgx-h100 nvlink=0x", "factor")
source = json_of("predict", "--kind", "exchange", "--on", "dgx-h100 nvlink=2x", "--bytes", "1M", "-q")["notes"]
expect(any("nvlink=2x as given; the rest: NVIDIA DGX H100" in note for note in source), source)
finish()
