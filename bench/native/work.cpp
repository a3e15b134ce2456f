// Runs semabench and mutexbench if the numbers of steps are not constants, or if a probe records. These loops are
// compiled once for both commands.
#include <type_traits>

#include "contend.hpp"

void contendWithWork(std::ostream& out, const Arguments& arguments, Work work) {
  const auto result = [&]<class Semaphore, class Probe>() {
    return Contention<Semaphore, Probe, Work>(arguments.threads, arguments.knobs, work).run(arguments.seconds);
  };
  withContender(arguments.algorithm, [&]<class R>(R) {
    using Semaphore = typename R::Semaphore;
    checkKnobs<Semaphore>(arguments.knobs);
    if (!arguments.probe) return print(out, arguments, result.template operator()<Semaphore, NoProbe>());
    if constexpr (Apart<Semaphore>) {
      throw BadArguments(std::string(Semaphore::name) + " has no --probe");
    } else {
      using Probe = std::conditional_t<TicketSemaphore<Semaphore>, TicketOrder, ArrivalStamps>;
      print(out, arguments, result.template operator()<Semaphore, Probe>());
    }
  });
}
