"""Sizes are whole numbers: one with a fraction is refused where it is read, with its column; amounts in larger units and means may have one."""
import csv
import io
import os
import tempfile

from checks import expect, expect_line, finish, run  # noqa: E402

FOLDER = tempfile.mkdtemp()


def asked(kind, header, row, cell):
    path = os.path.join(FOLDER, "rows.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + "\n" + row.replace("@", f'"{cell}"') + "\n")
    _, out, _ = run("predict", "--rows", path, "--kind", kind, "-q")
    row = next(csv.DictReader(io.StringIO(out)))
    return row["predicted"], row["status"]


REFUSED = (("kernel", "device,op,m,n,k,dtype", "A100,gemm,@,512,512,fp16", "3.7", 'm: expected a whole number, found "3.7"'),
           ("kernel", "device,op,shape,dtype", "A100,gemm,@,fp16", "3.7x512x512", 'shape: expected whole numbers, found "3.7x512x512"'),
           ("kernel", "device,op,shape,dtype", "A100,relu,@,fp16", "[64.5, 512]", 'shape: expected whole numbers, found "[64.5, 512]"'),
           ("kernel", "device,op,batch,tables,rows,lookups,dim,dtype", "A100,embedding,@,8,1000000,30,64,fp32", "0.5", 'batch: expected a whole number, found "0.5"'),
           ("kernel", "device,op,m,n,k,dtype", "A100,gemm,@,512,512,fp16", "True", 'm: expected a size, found "True"'),
           ("exchange", "system,collective,gpus,bytes", "dgx-a100,allreduce,8,@", "12.5", 'bytes: expected a whole number, found "12.5"'),
           ("exchange", "system,collective,gpus,elements,dtype", "dgx-a100,allreduce,8,@,fp16", "12.5", 'elements: expected a whole number, found "12.5"'))
for kind, header, row, cell, why in REFUSED:
    expect(asked(kind, header, row, cell) == ("", why), kind, cell, asked(kind, header, row, cell))

TAKEN = (("kernel", "device,op,m,n,k,dtype", "A100,gemm,@,512,512,fp16", "3.0"), ("kernel", "device,op,m,n,k,dtype", "A100,gemm,@,512,512,fp16", "4.5k"),
         ("kernel", "device,op,batch,tables,rows,lookups,d,dtype", "A100,embedding,2048,8,1000000,@,64,fp32", "30.5"), ("kernel", "device,op,size_mb", "A100,h2d,@", "1.5"),
         ("kernel", "device,op,b,heads,queries,keys,head_dim,causal,dtype", "A100,attention,4,16,2048,2048,64,@,fp16", "True"),
         ("exchange", "system,collective,gpus,bytes", "dgx-a100,allreduce,8,@", "1024.0"), ("exchange", "system,collective,gpus,bytes", "dgx-a100,allreduce,8,@", "1.5KB"),
         ("exchange", "system,collective,gpus,size_mb", "dgx-a100,allreduce,8,@", "12.5"))
for kind, header, row, cell in TAKEN:
    expect(asked(kind, header, row, cell)[0] and asked(kind, header, row, cell)[1] == "ok", kind, cell, asked(kind, header, row, cell))

for size in ("12.5", "8.5..1K", "8..1000.5"):
    code, _, err = run("predict", "--collective", "allreduce", "--on", "dgx-a100", "--bytes", size)
    expect_line(code, err, 2, "--bytes", size)
expect("took seq for 2048" in asked("step", "device,n_gpu,hidden,layers,heads,seq,vocab,micro_batch", "A100,8,4096,32,32,@,51200,1", "2048.5")[1], "seq")
finish()
