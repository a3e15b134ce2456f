/** The type of a job that a worker of the page does, which the experiments implement. */

/** Prepares the job. The function that it resolves with runs until the page says stop. */
export type Job<Order> = (order: Order) => Promise<() => void | Promise<void>>;
