TP=${TP:-${A:-4}}; B=$TP$TP
X="$X$X$X$X"
X="$X$X$X$X"
--a-b=$X ${ $ $( $((4*2)) --
[ -z $A ]
[x
=
