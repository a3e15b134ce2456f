/**
 * Faults of the schedule of rates (src/common/schedule.ts): what is wrong, the code, and the code in its place. With an
 * endless one the program may not end.
 * `rate-schedule.mjs` puts one of them into the source, and must find it (test/tasks/rate-schedule.test.ts).
 */
export const mutants = [
  ['others are dated when somebody looks', 'this.#dateHead(isMine ? now : date);', 'this.#dateHead(now);'],
  ['who leaves lets nobody move up', 'if (behind !== 0) this.#moveUp(behind, now);', ''],
  [
    'who is late does not plan those behind it anew',
    'this.advance(now, cell);\n      this.#plan(this.#get(HEAD), now);',
    'this.advance(now, cell);',
  ],
  [
    'who is late comes last',
    'let next = this.#get(TAIL) !== 0 && (floats[this.#get(TAIL) + ORDER] as number) < order ? 0 : this.#get(HEAD);',
    'let next = 0;',
  ],
  [
    'permits whose window has passed begin all the same',
    'return (this.#cells.floats[cell + DATE] as number) + this.#get(PER) > now && now >= this.#get(PAUSED);',
    'return now >= this.#get(PAUSED);',
  ],
  [
    'a pause does not hold up those who have a date',
    '+ this.#get(PER) > now && now >= this.#get(PAUSED);',
    '+ this.#get(PER) > now;',
  ],
  [
    'a date may lie before the one before it',
    'const held = Math.max(floats[at + PAUSED] as number, floats[at + DATED] as number);',
    'const held = floats[at + PAUSED] as number;',
  ],
  [
    'a pause is nothing for those who wait',
    'const held = Math.max(floats[at + PAUSED] as number, floats[at + DATED] as number);',
    'const held = floats[at + DATED] as number;',
  ],
  [
    'a permit counts too short a time',
    'if ((floats[cell + DATE] as number) + per > date) return;',
    'if ((floats[cell + DATE] as number) + per > date + 0.5) return;',
  ],
  [
    'the log has room for one more',
    'let over = (floats[at + TAKEN] as number) + permits - room;',
    'let over = (floats[at + TAKEN] as number) + permits - room - 1;',
  ],
  [
    'permits keep the date of their turn',
    'this.#cells.set(run + DATE, now);',
    'if (cell === 0) this.#cells.set(run + DATE, now);',
  ],
  ['a run keeps the date of its first permit', 'cells.set(newest + DATE, now);', ''],
  ['a run grows for ever', 'since * grain < (floats[at + PER] as number)', 'true'],
  ['a run never grows', 'if (floats[run + DATE] === date) return true;', 'return false;'],
  [
    'what is expired and has a thread is forgotten',
    'if (floats[cell + STATE] === RUN) this.#cells.give(cell);',
    'if (true) this.#cells.give(cell);',
  ],
  ['a head that may go earlier is not told', 'const isEarlier = !isMine &&', 'const isEarlier = false &&'],
  ['a plan that is earlier is not told', 'if (isEarlier) this.#earlier?.(load(cell + WHO));', ''],
  [
    'the planned date of the head is not what it was told',
    'floats[cell + DATE] = this.#due(floats[cell + K] as number, floats[cell + FROM] as number);',
    'return this.#due(floats[cell + K] as number, floats[cell + FROM] as number) - now;',
  ],
  [
    'who waits behind late ones plans nothing anew',
    '    else if ((floats[cell + DATE] as number) <= now) this.#plan(this.#get(HEAD), now);',
    '',
  ],
  ['the plan forgets the burst', 'Math.max(date, after - this.#ahead(permits));', 'Math.max(date, after);'],
  ['the plan forgets what is behind the window', 'if (back !== 0) date = Math.max(date, load(back + DATE) + per);', ''],
  ['the plan is not by the window', '        date = Math.max(date, load(from + DATE) + per);', ''],
  [
    'a plan is later than it need be',
    'for (; sum + permits > room && from !== cell;',
    'for (; sum + permits >= room && from !== cell;',
  ],
  ['the burst is counted twice', 'cells.set(at + NEXT, next + permits *', 'cells.set(at + NEXT, next + 2 * permits *'],
  ['the burst goes on by the old numbers', 'this.#set(INTERVAL, per / permits);', ''],
  ['a date taken away keeps its burst', 'this.#set(NEXT, this.#get(NEXT) - permits * this.#interval);', ';'],
  [
    'a date taken away keeps its place in the log',
    'this.#unlink(cell);\n    this.#set(TAKEN, this.#get(TAKEN) - permits);\n    // If',
    'this.#unlink(cell);\n    // If',
  ],
  [
    'open permits do not count',
    'const room = (floats[at + N] as number) - (floats[at + OPEN] as number);',
    'const room = floats[at + N] as number;',
  ],
  [
    'permits count from the begin of a call that stays',
    'this.#set(OPEN, this.#get(OPEN) - permits);\n    this.#set(TAKEN, this.#get(TAKEN) + permits);\n    this.#set(DATED, now);\n    this.#append(permits, now, cell);',
    'this.#set(OPEN, this.#get(OPEN) - permits);\n    this.#cells.give(cell);',
  ],
  [
    'the open permits of a dead thread stay open',
    'if (floats[cell + STATE] === IS_OPEN) this.#close(cell, now);\n      else {',
    '{',
  ],
  [
    'the permits of a dead thread do not count',
    'this.#cells.set(cell + STATE, RUN);\n        this.#cells.set(cell + FROM',
    'this.#takeDate(cell, now);\n        this.#cells.give(cell);\n        if (false) this.#cells.set(cell + FROM',
  ],
  [
    'nobody moves up after a death',
    '        this.#cells.commit();\n      }\n    }\n    this.#moveUp(this.#get(HEAD), now);',
    '        this.#cells.commit();\n      }\n    }',
  ],
  [
    'a dead thread waits on',
    'if (floats[cell + STATE] === WAITS) {\n        this.#remove(cell);\n        this.#cells.give(cell);\n      }',
    'if (floats[cell + STATE] === WAITS) {}',
  ],
  [
    'what is given back goes to the newest',
    'for (let cell = this.#get(OLDEST), next = 0; left > 0 && cell !== this.#get(HEAD); cell = next) {\n      next = floats[cell + LINK] as number;',
    'for (let cell = this.#newest, next = 0; left > 0 && cell !== 0; cell = next) {\n      next = floats[cell + BACK] as number;',
  ],
  [
    'who asks for more than there is stays',
    'this.dismiss(now, REFUSED, permits);',
    'this.#moveUp(this.#get(HEAD), now);',
  ],
  [
    'who has a date by the old numbers keeps it',
    'if (floats[cell + STATE] !== IS_DATED) continue;\n      this.#takeDate',
    'if (floats[cell + STATE] !== 0) continue;\n      this.#takeDate',
  ],
  [
    'room is used at a time when it was not there',
    'this.#set(DATED, now);\n    this.#cells.commit();\n    this.advance(now);',
    'this.advance(now);',
  ],
  [
    'what a dead thread has written stays',
    'for (let noted = floats[count] as number; noted > 0; noted--) {',
    'for (let noted = 0; noted > 0; noted--) {',
    'endless',
  ],
  [
    'after a death in a call nobody is told',
    'if (floats[cell + STATE] !== RUN) this.#earlier',
    'if (false) this.#earlier',
  ],
  [
    'a death in resize leaves those who ask for too much',
    'this.dismiss(time, REFUSED, this.#get(N));',
    'this.#moveUp(this.#get(HEAD), this.advance(time));',
  ],
  [
    'who is late and asks for too much waits on',
    'if (permits > this.#get(N)) {\n        this.#cells.give',
    'if (false) {\n        this.#cells.give',
  ],
  [
    'dueIn knows only the present plan',
    'this.#planFrom(this.#get(HEAD), now);\n    const { floats }',
    'const { floats }',
  ],
  [
    'dueIn forgets those who wait',
    'if (this.#get(HEAD) === 0) return this.#due(permits, now) - now;',
    'return this.#due(permits, now) - now;',
  ],
  [
    'permits join a run, and are one too many',
    'if (taken > most - (floats[at + OPEN] as number) || newest',
    'if (taken - 1 > most - (floats[at + OPEN] as number) || newest',
  ],
  [
    'permits join a run while calls that stay have permits',
    'if (taken > most - (floats[at + OPEN] as number) || newest',
    'if (taken > most || newest',
  ],
  [
    'permits join a request that waits, or has a date',
    'newest === 0 || floats[newest + STATE] !== RUN) return false;',
    'newest === 0) return false;',
  ],
  ['permits join a run earlier than evenly', '      next - ahead > now ||\n', ''],
  ['permits join a run in a pause', '      (floats[at + PAUSED] as number) > now ||\n', ''],
  [
    'permits join a run while others leave the log',
    '      (floats[(floats[at + OLDEST] as number) + DATE] as number) + per <= now ||\n',
    '',
  ],
  ['permits join a run of few permits', '(most <= this.#grain || (now', '((now'],
  [
    'permits join a run that is long enough',
    '(most <= this.#grain || (now - (floats[newest + FROM] as number)) * this.#grain >= per)',
    'most <= this.#grain',
  ],
  ['permits that join a run have no date', '    floats[at + DATED] = now;\n    floats[newest', '    floats[newest'],
  ['permits that join a run keep its date', '    floats[newest + DATE] = now;\n', ''],
  ['permits that join a run do not count in it', '    (floats[newest + K] as number) += permits;\n', ''],
  ['permits that join a run do not count in the log', '    floats[at + TAKEN] = taken;\n', ''],
  [
    'permits that join a run do not count for the burst',
    'floats[at + NEXT] = (next > now ? next : now) + permits * interval;',
    'floats[at + NEXT] = next + permits * interval;',
  ],
  [
    'time goes back for who joins a run',
    'const now = Math.max(time, floats[at + NOW] as number);\n    const per',
    'const now = time;\n    const per',
  ],
];
