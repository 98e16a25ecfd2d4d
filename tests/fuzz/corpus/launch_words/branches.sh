A=full; B=$((1<2?3:4))
if [ $A = full ]; then
--a 1
elif [[ "$A" == none && $B -gt 2 ]]; then
if [ ! -z "${C}" ] || ! [ -n $D ]; then
--b 2
fi
else
--c $((A?B:C:D))
fi
case $A in
x) --d 4;;
esac
if true; then --e 5; fi
fi
esac
else
