// The memory orders of a row. The papers measure with the default order of std::atomic, and print acquire and release
// at some loads and stores. A row has both forms, so that they can be measured beside each other. On x86 only the stores
// differ: one in sequential order is a locked instruction.
#pragma once

#include <atomic>

struct SequentialOrders {
  static constexpr std::memory_order load = std::memory_order_seq_cst;
  static constexpr std::memory_order store = std::memory_order_seq_cst;
  static constexpr bool printed = false;
};

struct PrintedOrders {
  static constexpr std::memory_order load = std::memory_order_acquire;
  static constexpr std::memory_order store = std::memory_order_release;
  static constexpr bool printed = true;
};
