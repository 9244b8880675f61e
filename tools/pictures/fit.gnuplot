# Draws fit.svg of tools/demo, in the folder of its tables: the same points learned by two methods, each with its mean, two standard
# deviations and the true function.
set terminal svg size 960,410 font "Helvetica,14" background "white"
set output "fit.svg"
set datafile separator ","
set grid lc rgb "#dddddd"
set key below samplen 2
set xlabel "x"
set ylabel "y"
stats "data.csv" using 1 name "x" nooutput
stats "data.csv" using 2 name "y" nooutput
stats "grid.csv" using 2 name "truth" nooutput
least = y_min < truth_min ? y_min : truth_min
most = y_max > truth_max ? y_max : truth_max
room = 0.35 * (most - least)
set xrange [-4:3]
set yrange [least - room : most + room]  # a band may leave it, so that methods can be compared side by side
do for [at in sprintf("%g %g", x_min, x_max)] { set arrow from at, graph 0 to at, graph 1 nohead dt 3 lw 2 lc rgb "#999999" }
set multiplot layout 1,2 title "The same 200 points, two methods"
do for [method in "paper default"] {
  set title method eq "paper" ? "dma fit --preset paper" : "dma fit"
  both = "< paste -d, grid.csv predictions_" . method . ".csv"  # x, truth, mean, sd
  plot both using 1:($3 - 2 * $4):($3 + 2 * $4) skip 1 with filledcurves fc rgb "#0072b2" fs transparent solid 0.25 title "mean ± 2 sd", \
       "data.csv" using 1:2 skip 1 with points pt 7 ps 0.3 lc rgb "#999999" title "data", \
       both using 1:3 skip 1 with lines lw 2 lc rgb "#0072b2" title "mean", \
       both using 1:2 skip 1 with lines lw 2 dt 2 lc rgb "black" title "true function"
}
unset multiplot
