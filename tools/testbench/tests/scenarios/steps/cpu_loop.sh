# The CPU test on the CPU without a tick and on its isolated neighbour, in one block: A B B A or B A A B.
fullclock bench --json --no-save -n 2 --vs 'cpu-loop --cpus 1' 'cpu-loop --cpus 2'
