// The commands. Each is a unit of its own, since all rows are compiled into each: the units compile side by side.
#pragma once

#include <ostream>

#include "arguments.hpp"

void semabench(std::ostream& out, const Arguments& arguments);
void mutexbench(std::ostream& out, const Arguments& arguments);
void handOver(std::ostream& out, const Arguments& arguments);
void pair(std::ostream& out, const Arguments& arguments);
