// The order of the admissions of one subject, by its own tickets. Admissions are told one at a time, so this state needs
// no lock of its own: the thread that is admitted tells its ticket while it is alone inside the section.
//
// The bypass of a ticket is the number of later tickets that were admitted before it. To know it, the state has the
// number of admissions so far, and the tickets that lie below the highest admitted one and are still outstanding: each
// belongs to a thread that waits, so there are at most as many as threads.
//
//   admitted before ticket t = (smaller ones: t - the outstanding ones below t) + (later ones: the bypass of t)
//
// A stamp that a thread draws before it calls the subject says less: the thread may stop between the stamp and the
// ticket, and each admission meanwhile would count.

/** Indices: the ticket admitted last, the one after the highest so far, and how many are admitted and outstanding. */
const LATEST = 0;
const NEXT = 1;
const COUNT = 2;
const OUTSTANDING = 3;
/** From here on, the outstanding tickets in ascending order. */
const TICKETS = 4;

/** The length of the memory for so many threads. */
export const ticketWords = (threads: number): number => TICKETS + threads;

export class TicketOrder {
  readonly #state: Float64Array;

  /** @param state shared memory of `ticketWords(threads)` numbers, all 0 before the first admission. */
  constructor(state: Float64Array) {
    this.#state = state;
  }

  /** Whether the ticket is the one after the ticket that was admitted last. Asked before `admitted`. */
  isNext(ticket: number): boolean {
    return ticket === (this.#state[COUNT] === 0 ? 0 : (this.#state[LATEST] as number) + 1);
  }

  /**
   * Notes the admission of a ticket. Returns its bypass.
   * @throws {Error} if a ticket was admitted twice, or if more tickets are outstanding than there are threads.
   */
  admitted(ticket: number): number {
    const state = this.#state;
    const next = state[NEXT] as number;
    const outstanding = state[OUTSTANDING] as number;
    let below = outstanding;
    if (ticket >= next) {
      below += ticket - next;
      if (TICKETS + below > state.length) throw new Error(`more tickets are outstanding below ${ticket} than threads`);
      for (let i = 0; i < ticket - next; i++) state[TICKETS + outstanding + i] = next + i;
      state[NEXT] = ticket + 1;
      state[OUTSTANDING] = below;
    } else {
      below = 0;
      while (below < outstanding && (state[TICKETS + below] as number) < ticket) below++;
      if (below === outstanding || state[TICKETS + below] !== ticket)
        throw new Error(`ticket ${ticket} was admitted twice`);
      state.copyWithin(TICKETS + below, TICKETS + below + 1, TICKETS + outstanding);
      state[OUTSTANDING] = outstanding - 1;
    }
    state[LATEST] = ticket;
    return (state[COUNT] as number)++ - (ticket - below);
  }
}
