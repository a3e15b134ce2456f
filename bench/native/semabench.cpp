#include "commands.hpp"
#include "contend.hpp"

void semabench(std::ostream& out, const Arguments& arguments) { contend(out, arguments, Semabench{}); }
