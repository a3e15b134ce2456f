// The commands. All rows are compiled into each command. So each command is a unit of its own, and the units compile in
// parallel.
#pragma once

#include <ostream>

#include "arguments.hpp"

void semabench(std::ostream& out, const Arguments& arguments);
void mutexbench(std::ostream& out, const Arguments& arguments);
void handOver(std::ostream& out, const Arguments& arguments);
void permits(std::ostream& out, const Arguments& arguments);
void pair(std::ostream& out, const Arguments& arguments);
void syncCounterpart(std::ostream& out, const Arguments& arguments);
void channelCounterpart(std::ostream& out, const Arguments& arguments);
