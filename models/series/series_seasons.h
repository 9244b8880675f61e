// Seasons that a series shows: of the lengths that a calendar knows, or else of any length.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/series/state_space.h"

namespace dma {

// Seasons of few whole steps are tried with a shape that moves (seasonal), others with one that is fixed.
bool season_moves(double period);
// The cosines and sines that a season is given: all, where it moves.
std::size_t season_harmonics(double period);
// Tries each of these periods that is seen twice: it is kept if a walk with it, and with the shorter ones kept before,
// says values better than without. If none is kept, the same with up to two periods of whole steps that the moves from
// value to value show.
std::vector<double> seasons_seen(SeriesValues values, const std::vector<double>& usual,
                                 const std::function<void(const std::string& name, int solves)>& on_solve = {});
// Fills gaps by linear interpolation, then subtracts the mean and the shape of each season.
std::vector<double> without_seasons(SeriesValues values, const std::vector<double>& seasons);

}  // namespace dma
