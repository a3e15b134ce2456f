#include "commands.hpp"
#include "contend.hpp"

void mutexbench(std::ostream& out, const Arguments& arguments) { contend(out, arguments, Mutexbench{}); }
