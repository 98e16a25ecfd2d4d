N=8; M=$((N*2))
G=$(( (${N} + $M) % 5 / 2 - -3 ))
--global-batch-size $((M * N)) --micro-batch-size $((((1))) --seq-length=$((9/0)) $((X)) $((999999999999999*99))
