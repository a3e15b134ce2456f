-- Rates: at most so many permits begin in any window, in the order in which requests arrive. A request is told its date
-- at once, in the answer to its one call, and begins then. Nobody is told anything later.
--
--     E T --> date = the earliest at which the window has room --> told
--                 --> too late for the caller's time-out        --> refused: it has taken nothing
--     E C --> gives a date back: a hole, which the next request takes that fits in
--
-- All times are whole microseconds of the partition's clock (`clock`). A call begins at its date or up to `slack`
-- later, and otherwise it asks again. So the dates keep windows of `per + slack`, and then the calls keep windows of
-- `per`, whatever the network does.
--
-- The state of a rate is a text in a key of its own, which the server drops when a new state would answer the same; in a
-- broker, it is in RATES. A take costs the server much of its time for copies of this text, so the text is short: its
-- fields are binary, of 4 or 7 bytes each (`struct`), but for the numbers, which are as a call brings them:
--   numbers   44 hexadecimal digits: permits(8) per(14) burst(8) slack(14)
--   head      given(7) following(7) latest(7) taken(7) epoch(7), and how many runs(4) and holes(4) there are
--   runs, then holes   date(7) permits(4) each, by date
--   rare      only if one of them is not 0: resized(4) repaired(7) paused(7) moved(7) stopped(7) cancelled(7)
--             needed(7)
--
--   given      how many permits have got dates; with a date, it names the request
--   following  when the next permit would be due if all came evenly
--   latest     the latest date
--   taken      the permits of all runs
--   epoch      names what the state knows: the time when the state began, when a loss was noticed, or when the slack
--              became another one. What was given under another epoch may not count here, or not for as long, so it is
--              never given back. No two epochs are the same, and a later epoch is larger
--   repaired   after a loss, see `mend`
--   paused     no date lies before this time, but for those that had passed when the pause began
--   moved      by how much pauses have moved dates, all together
--   stopped    when the last pause began. It has moved the dates behind
--   cancelled  requests up to this number are cancelled. A cancellation takes a number of its own, so that a request
--              without a date can tell it from the one before
--   needed     when somebody asked for so long a slack last; 0 if all do. See `shorten`
-- Invariants: dates never decrease, but for those of holes, whose permits count already in their runs; and a run leaves
-- the text only when it lies a window behind the time, or behind the latest date.
--
-- A date that lies so far ahead that the death of its process is noticed before is listed in RECORDS, behind the
-- requests of the session: sid(16) r date(14) given(9) permits(8) epoch(14) NUL name; the date without what pauses have
-- moved it, and the lowest 36 bits of `given`.
-- When the session ends, what it has listed in the present epoch becomes holes (`free`). A process that has lost its session gives up such
-- dates. Dates that are nearer pass unused.

rates = function()
  local WRAP = 68719476736 -- the numbers of requests in records
  local JUMP = 1000000 -- keys may have expired before their time if the server's clock was so much too late
  -- lost: in the pause after a loss, when the loss was noticed. States of epochs up to it may lack permits.
  local far, pause_of_loss, lost

  local function date_of(list, at)
    local date = struct.unpack('>I7', list, at)
    return date
  end

  local function count_of(list, at)
    local count = struct.unpack('>I4', list, at + 7)
    return count
  end

  -- Finds the time of the partition, `moment`. It never goes back, and goes as the monotonic clock of the caller says:
  -- the caller was told the time `seen` at least `low` and at most `high` microseconds ago. So a jump of the server's
  -- clock, or another server with another clock, is no time that has passed. A caller that was told no time may not have
  -- lived through a jump; then the time goes on by a beat at most, if a session lives that tells its time with its beats.
  local function clock(seen, low, high, slack)
    local BEATS = 5 -- each session beats at least so often in a lease
    local FAR = 1250 -- the death of a process is noticed within so many thousandths of a lease
    if moment then return end
    local meta = call('HMGET', META, 'offset', 'seen', 'began', 'lease', 'lost')
    -- [server
    now()
    local here, lease = time, tonumber(meta[4])
    local beat = lease / BEATS
    far = lease * FAR
    -- server]
    --- local here = now() * 1000
    --- local beat = 1000
    --- far = 0
    local offset, least, most = tonumber(meta[1] or 0), tonumber(meta[2] or 0), 0
    local began, noticed = tonumber(meta[3] or 0), meta[5]
    if seen > 0 then
      least = math.max(least, seen + math.floor(low * 0.999))
      -- The call may have been under way for long. If another one came shortly before, the clock has not jumped.
      most = math.max(least, seen + math.ceil(high * 1.001)) + math.floor(slack / 4)
    else
      local timer = call('HGET', META, 'timer')
      if timer and timer ~= sid and call('HGET', SESSIONS, timer) then most = least + beat * 1100 end
    end
    moment = here + offset
    if moment < least then
      moment = least
    elseif most > 0 and moment > most then
      if moment - most > JUMP then
        began, noticed = now(), '-'
        call('HSET', META, 'began', began)
        -- Not `most`: then each of several jumps in a window would make the window shorter by a part of the slack.
        moment = least
      else
        -- The call may have been under way for so long.
        moment = math.floor(most)
      end
    end
    if moment ~= here + offset then call('HSET', META, 'offset', moment - here) end
    call('HSET', META, 'seen', moment)
    -- Two servers may have taken over at the same time of the partition. The names of their histories differ.
    local history = noticed and match(noticed, '^%-(%x*)')
    if history then
      noticed = moment + tonumber('0' .. history, 16)
      call('HSET', META, 'lost', format('%d', noticed))
    end
    -- After a loss, those who know what was lost say so within a beat.
    local left = began + beat - now()
    if left > beat then
      -- The clock has gone back since, so nobody knows how much of the beat has passed.
      began, left = now(), beat
      call('HSET', META, 'began', began)
    end
    pause_of_loss = left > 0 and math.ceil(left * 1000) or 0
    lost = left > 0 and tonumber(noticed) or 0
  end

  -- Reads the state of a rate, without what lies a window behind the time, or behind the latest date: no later permit has
  -- an earlier date. wanted: the caller's numbers; the largest slack of all counts. replaces: the others count too,
  -- whatever the state says.
  local function load(name, wanted, replaces)
    -- [server
    local text = call('GET', RATES .. name)
    -- server]
    --- local text = call('GET', RATES, name)
    local theirs, numbers, slack = text and sub(text, 1, 44) or wanted, wanted, tonumber(sub(wanted, 31, 44), 16)
    local grows = false
    if theirs ~= wanted then
      if not replaces then numbers = theirs end
      local before = tonumber(sub(theirs, 31, 44), 16)
      grows = slack > before
      slack = math.max(slack, before)
      numbers = sub(numbers, 1, 30) .. format('%014x', slack)
    end
    local permits, per = tonumber(sub(numbers, 1, 8), 16), tonumber(sub(numbers, 9, 22), 16)
    local window = per + slack
    local interval = window / permits
    local r = {
      name = name, numbers = numbers, permits = permits, per = per, burst = tonumber(sub(numbers, 23, 30), 16),
      slack = slack, window = window, interval = interval, given = 0, following = 0, latest = 0, taken = 0,
      epoch = 0, runs = '', holes = '', is_rare = false, resized = 0, repaired = 0, paused = 0, moved = 0, stopped = 0,
      cancelled = 0, needed = 0, grows = grows, changes = false,
    }
    if not text then return r end
    local given, following, latest, taken, epoch, runs, holes = struct.unpack('>I7I7I7I7I7I4I4', text, 45)
    if replaces and theirs ~= numbers and following > moment then
      -- What is due in so many intervals stays due in so many.
      local before = (tonumber(sub(theirs, 9, 22), 16) + tonumber(sub(theirs, 31, 44), 16)) / tonumber(sub(theirs, 1, 8), 16)
      following = math.floor(moment + (following - moment) * (interval / before))
    end
    local at, behind, past = 88, 88 + 11 * runs, math.max(moment, latest) - window
    while at < behind and date_of(text, at) <= past do
      taken = taken - count_of(text, at)
      at = at + 11
    end
    r.runs = sub(text, at, behind - 1)
    if holes > 0 then
      at, behind = behind, behind + 11 * holes
      while at < behind and date_of(text, at) <= moment do at = at + 11 end
      r.holes = sub(text, at, behind - 1)
    end
    r.given, r.following, r.latest, r.taken, r.epoch = given, following, latest, taken, epoch
    if behind <= #text then
      r.is_rare = true
      local resized, repaired, paused, moved, stopped, cancelled, needed = struct.unpack('>I4I7I7I7I7I7I7', text, behind)
      r.resized, r.repaired, r.paused = resized, repaired, paused
      r.moved, r.stopped, r.cancelled, r.needed = moved, stopped, cancelled, needed
    end
    return r
  end

  local function save(r)
    local LAST_TIME = 9007199254740991 -- no time is later than this one, in the year 2255: what both forms count exactly
    if not r.changes then return end
    local following = math.min(r.following, LAST_TIME)
    local head = struct.pack('>I7I7I7I7I7I4I4',
      r.given, following, r.latest, r.taken, r.epoch, #r.runs / 11, #r.holes / 11)
    local rare = ''
    if r.is_rare then
      rare = struct.pack('>I4I7I7I7I7I7I7', r.resized, r.repaired, r.paused, r.moved, r.stopped, r.cancelled, r.needed)
    end
    local whole = r.numbers .. head .. r.runs .. r.holes .. rare
    -- So much longer that a jump by which nobody notices a loss does not lose it.
    local counts = math.max(r.latest + r.window, following, r.paused, moment)
    local lasts = math.ceil((counts - moment + JUMP + r.slack) / 1000) + 1
    -- A rate that was resized must not forget its numbers.
    if r.resized == 1 then lasts = 31536000000 end
    -- [server
    call('SET', RATES .. r.name, whole, 'PX', lasts)
    -- server]
    --- call('KEEPFOR', RATES, r.name, whole, lasts)
  end

  -- Adds permits to the runs.
  local function log(r, date, k)
    local MOST_RUNS = 64 -- more runs than these join if they are of the same part of a window, of so many parts
    local MOST_COUNT = 4294967295 -- a run counts so many permits at most
    local runs, all = r.runs, k
    local at = #runs - 10
    if at > 0 then
      local newest, before = struct.unpack('>I7I4', runs, at)
      local part = r.window / MOST_RUNS
      if newest == date or at > MOST_RUNS * 11 and math.floor(newest / part) == math.floor(date / part) then
        all = math.min(before + k, MOST_COUNT)
        r.taken = r.taken - before
        runs = sub(runs, 1, at - 1)
      end
    end
    r.runs = runs .. struct.pack('>I7I4', date, all)
    r.taken = r.taken + all
    r.latest = math.max(r.latest, date)
    r.changes = true
  end

  -- When k permits would go that are asked for now, behind all others.
  local function date_for(r, k)
    local TICK = 5000 -- permits that are due within so many microseconds may go together
    local interval, runs = r.interval, r.runs
    local ahead = math.max((r.burst - math.min(k, r.burst)) * interval, math.min(TICK, interval))
    local date = math.max(moment + pause_of_loss, r.latest, r.paused, math.ceil(r.following - ahead))
    local over, at = r.taken + k - r.permits, 1
    while over > 0 and at < #runs do
      local ends, count = struct.unpack('>I7I4', runs, at)
      over = over - count
      date = math.max(date, ends + r.window)
      at = at + 11
    end
    return date
  end

  local seldom -- makes the functions that most operations do not need
  seldom = function()
    local NUMBERS = '00000001000000000f42400000000100000000000000' -- of whoever only looks
    local MOST_HOLES = 256 -- dates that are given back while there are so many holes pass unused

    -- A new epoch begins. `repaired`: up to which number permits of earlier epochs count here. A date that was given back
    -- may have been taken since, which is lost, so the holes go.
    local function begin(r, epoch, repaired)
      r.epoch, r.repaired, r.holes = epoch, repaired, ''
      r.is_rare = true
      r.changes = true
    end

    -- The server has noticed a loss, and the state may lack the last permits that were given. A new epoch begins at once:
    -- otherwise what is given before somebody tells of these would seem to be them.
    local function lose(r)
      begin(r, math.max(moment, lost + 1), r.given)
    end

    -- The caller knows another epoch, or more of this one: the state may lack permits of which the caller knows. They count
    -- at the last date that the caller knows, those of a window at most. The numbers of requests grow over all epochs: so
    -- `given` is at least what the caller knows. A process does not hear of an epoch before one that it knows.
    local function mend(r, known_epoch, known, known_last)
      local counts = known_last + r.window > moment
      if known_epoch < r.epoch and not counts then
        r.given = math.max(r.given, known)
        return
      end
      local missing = known - (known_epoch == r.epoch and r.given or r.repaired)
      if known_epoch >= r.epoch then begin(r, math.max(moment, known_epoch + 1), r.repaired) end
      if missing <= 0 then return end
      r.repaired, r.given = known, r.given + missing
      r.is_rare = true
      if not counts then return end
      log(r, math.max(r.latest, known_last), math.min(missing, r.permits))
      r.following = math.max(r.following, math.floor(known_last + math.min(missing, r.burst) * r.interval))
    end

    -- The slack becomes another one. A date that was given back by the old one must not be given by the new one: whoever
    -- gets it might begin so late that the dates behind it come too soon. In the pause after a loss, what has been counted
    -- since may have the numbers of what was lost, so it may count twice.
    local function change_slack(r)
      local repaired = r.given
      if pause_of_loss > 0 then repaired = r.repaired end
      begin(r, math.max(moment, r.epoch + 1), repaired)
    end

    -- Nobody has asked for so long a slack for a while: it becomes as long as the caller asks for. Calls may still begin
    -- late by the longer slack whose dates were told before, so these dates count for longer by the difference, as if they
    -- were later.
    local function shorten(r, slack)
      local QUIET = 60000000 -- so many microseconds
      if slack == r.slack or r.needed == 0 then
        r.needed = moment
        r.is_rare = true
        r.changes = true
      elseif moment - r.needed > QUIET then
        local after, at = {}, 1
        while at < #r.runs do
          after[#after + 1] = struct.pack('>I7I4', date_of(r.runs, at) + r.slack - slack, count_of(r.runs, at))
          at = at + 11
        end
        change_slack(r)
        r.runs, r.latest, r.needed = table.concat(after, ''), r.latest + r.slack - slack, 0
        r.numbers, r.slack, r.window = sub(r.numbers, 1, 30) .. format('%014x', slack), slack, r.per + slack
        r.interval = r.window / r.permits
      end
    end

    -- The place of the first hole for k permits that is at most so many microseconds away; 0: there is none.
    local function hole_for(r, k, most)
      local holes, at = r.holes, 1
      while at < #holes do
        if most >= 0 and date_of(holes, at) - moment > most then return 0 end
        if count_of(holes, at) >= k then return at end
        at = at + 11
      end
      return 0
    end

    -- Changes the permits at a place in a list of runs or holes.
    local function counted(list, at, k)
      local date = k > 0 and struct.pack('>I7I4', date_of(list, at), k) or ''
      return sub(list, 1, at - 1) .. date .. sub(list, at + 11)
    end

    local function take_hole(r, at, k)
      r.holes = counted(r.holes, at, count_of(r.holes, at) - k)
      r.changes = true
    end

    -- The place of a date in a list of runs or holes, or where it belongs.
    local function place_of(list, date)
      local at = 1
      while at < #list and date_of(list, at) < date do at = at + 11 end
      return at
    end

    -- A date that lies ahead is free again.
    local function add_hole(r, date, k)
      local holes = r.holes
      local at = place_of(holes, date)
      if at < #holes and date_of(holes, at) == date then
        r.holes = counted(holes, at, count_of(holes, at) + k)
        r.changes = true
      elseif #holes < MOST_HOLES * 11 then
        r.holes = sub(holes, 1, at - 1) .. struct.pack('>I7I4', date, k) .. sub(holes, at)
        r.changes = true
      end
    end

    -- The process gives a date back that it has not used. A date that had passed when a pause began was not moved, so it
    -- seems to lie before `paused`. If the date has passed, its permits do not count any more. Then the next permit is due
    -- as if they had never been asked for.
    local function give_back(r, date, k)
      if date < r.paused or date > r.latest then return end
      if date > moment then
        add_hole(r, date, k)
        return
      end
      local at = place_of(r.runs, date)
      if at > #r.runs or date_of(r.runs, at) ~= date or count_of(r.runs, at) < k then return end
      r.runs = counted(r.runs, at, count_of(r.runs, at) - k)
      r.taken = r.taken - k
      r.changes = true
      -- The runs before are due before it, or the debt is.
      local due = 0
      while at < #r.runs do
        due = math.max(due, date_of(r.runs, at)) + count_of(r.runs, at) * r.interval
        at = at + 11
      end
      -- A debt may be due later than all runs that still count (see `S`).
      r.following = math.min(r.following, math.floor(math.max(due, r.following - k * r.interval)))
    end

    -- By how much pauses have moved the dates of a rate.
    local function moved_of(r, other)
      if other == r.name then return r.moved end
      return load(other, NUMBERS, false).moved
    end

    -- Lists a date of the caller that lies far ahead, and takes some off the list that have passed.
    local function list(r, date, k)
      local mine = sid .. 'r'
      local old = call('ZRANGEBYLEX', RECORDS, '[' .. mine, '(' .. mine .. format('%014x', moment), 'LIMIT', 0, 4)
      for _, each in ipairs(old) do
        if tonumber(sub(each, 18, 31), 16) + moved_of(r, sub(each, 64)) < moment then call('ZREM', RECORDS, each) end
      end
      local dated = format('%014x%09x%08x%014x', date - r.moved, r.given % WRAP, k, r.epoch)
      call('ZADD', RECORDS, 0, mine .. dated .. '\0' .. r.name)
    end

    -- Tells sessions that they must look at a rate. Those that are not told look by themselves.
    local function tell_all(tag)
      local all = call('ZRANGEBYSCORE', LEASES, '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_FOUND)
      for at = 1, #all / 2 do
        if all[2 * at - 1] ~= sid then requests().rest().tell(all[2 * at - 1], 'E:' .. tag) end
      end
    end

    -- A list of runs or holes whose dates behind a time have moved.
    local function moved_by(list, delta)
      local after, at = {}, 1
      while at < #list do
        local date = date_of(list, at)
        if date > moment then date = date + delta end
        after[#after + 1] = struct.pack('>I7I4', date, count_of(list, at))
        at = at + 11
      end
      return table.concat(after, '')
    end

    -- The dates that lie ahead move back by as much as the pause becomes longer. What lies ahead then lies at `paused` at
    -- the earliest, and what has passed would lie before `paused` if it moved, too (see `give_back`).
    local function pause(r, wait, tag)
      local delta = math.max(0, moment + wait - math.max(r.paused, moment + 1))
      if delta == 0 then return end
      r.runs, r.holes = moved_by(r.runs, delta), moved_by(r.holes, delta)
      if r.latest > moment then r.latest = r.latest + delta end
      r.following, r.moved, r.paused, r.stopped = r.following + delta, r.moved + delta, moment + wait, moment
      r.is_rare = true
      r.changes = true
      tell_all(tag)
    end

    -- Gives back permits that were used and are not. The oldest go: what is left then counts for longest.
    local function unspend(r, k)
      local runs, left, at, kept = r.runs, k, 1, ''
      while at < #runs and left > 0 and date_of(runs, at) <= moment do
        local count = count_of(runs, at)
        local back = math.min(left, count)
        if back < count then kept = struct.pack('>I7I4', date_of(runs, at), count - back) end
        left = left - back
        at = at + 11
      end
      r.runs = kept .. sub(runs, at)
      r.taken = r.taken - (k - left)
      r.following = math.max(0, math.floor(r.following - (k - left) * r.interval))
      r.changes = true
    end

    -- How many permits have dates that lie ahead, of those whose runs are still there.
    local function reserved(r)
      local runs, holes, sum, at = r.runs, r.holes, 0, 1
      while at < #runs do
        if date_of(runs, at) > moment then sum = sum + count_of(runs, at) end
        at = at + 11
      end
      at = 1
      while at < #holes do
        sum = sum - count_of(holes, at)
        at = at + 11
      end
      return sum
    end

    -- All operations of `E` but T and I.
    local function change(r, i, what, a, b)
      if what == 'C' or what == 'D' then
        local key = sid .. 'r' .. format('%014x%09x', a, tonumber(ARGV[i + 11]) % WRAP)
        local known = what == 'C'
        if what == 'D' then
          local listed = call('ZRANGEBYLEX', RECORDS, '[' .. key, '(' .. key .. 'g', 'LIMIT', 0, 1)[1]
          known = listed and call('ZREM', RECORDS, listed) == 1
        end
        if known and tonumber(ARGV[i + 12]) == r.epoch then give_back(r, a + r.moved, b) end
      elseif what == 'P' then
        pause(r, a, ARGV[i + 10])
      elseif what == 'L' then
        r.given = r.given + 1
        r.cancelled = r.given
        r.is_rare = true
        r.changes = true
        tell_all(ARGV[i + 10])
      elseif what == 'S' and a >= 0 then
        log(r, math.max(r.latest, moment), a)
        r.following = math.floor(math.max(r.following, r.latest) + a * r.interval)
        r.given = r.given + a
      elseif what == 'S' then
        unspend(r, -a)
      elseif what == 'R' then
        r.resized = 1
        r.is_rare = true
        r.changes = true
      end
    end

    -- What follows the answer if the caller does not know it.
    local function more(r)
      return format(' %d %d %d %d %d', r.permits, r.per, r.burst, r.slack, r.resized)
        .. format(' %d %d %d %d %d', r.moved, r.stopped, r.cancelled, r.taken, reserved(r))
    end

    -- G seen low high: goes with a beat of a session that uses rates, so that a jump of the clock between two beats is no
    -- time that has passed. Answer: G moment began. began: when the last loss was noticed, by the server's clock.
    local function beat_of_rates(i)
      clock(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), 0)
      call('HSET', META, 'timer', sid)
      return 'G ' .. format('%d', moment) .. ' ' .. (call('HGET', META, 'began') or '0'), i + 3
    end

    -- A session has ended: the dates that it has listed are free again, if they were given in the present epoch.
    -- Returns how many it has looked at. A beat does this before it tells its time, so the clock stays as it is: the time
    -- that somebody was told last is early enough, as who reads a rate drops the holes that have passed.
    local function free(victim)
      local listed = call('ZRANGEBYLEX', RECORDS, '[' .. victim .. 'r', '(' .. victim .. 's', 'LIMIT', 0, math.max(work, 0))
      local before = moment
      if #listed > 0 and not before then moment = tonumber(call('HGET', META, 'seen') or 0) end
      for _, each in ipairs(listed) do
        call('ZREM', RECORDS, each)
        local r = load(sub(each, 64), NUMBERS, false)
        local date = tonumber(sub(each, 18, 31), 16) + r.moved
        local is_same = tonumber(sub(each, 49, 62), 16) == r.epoch
        if is_same and date > moment then give_back(r, date, tonumber(sub(each, 41, 48), 16)) end
        save(r)
      end
      moment = before
      return #listed
    end

    local made = {
      lose = lose, mend = mend, change_slack = change_slack, shorten = shorten, hole_for = hole_for, date_of = date_of, take_hole = take_hole, list = list, change = change,
      more = more, beat_of_rates = beat_of_rates, free = free,
    }
    seldom = function() return made end
    return made
  end

  -- E name numbers epoch given last seen low high what a b c d: an operation on a rate. numbers: as in the state; those
  -- of the first caller count, or of the last one if the name has a NUL, as those of keys have. epoch, given, last: the
  -- most that the caller was told of this rate. seen, low, high: see `clock`. what:
  --   T k most         takes k permits, if their date is at most `most` microseconds away; most below 0: however far.
  --                    In the pause after a loss nobody gets a date: who would get one is told when to ask again
  --   C date k given epoch   gives a date back (the date without what pauses have moved)
  --   D date k given epoch   gives a date back that is listed
  --   P wait tag       nobody gets a date before so many microseconds, and the dates that lie ahead move back. tag: what
  --                    the sessions are told, which must look
  --   L 0 tag          cancels all requests that have got a date
  --   S k              counts k permits now, or below 0 gives used ones back
  --   R                the numbers of this call are those of the rate from now on
  --   I k most         looks when k permits could go; with k = 0 only at the rate
  -- Answers: E ok given date moment latest. ok: 0 if T has got no date, 2 if the date is listed. And epoch, if the caller
  -- knows another one. And permits per burst slack resized moved stopped cancelled taken reserved, for I, and if the
  -- caller's numbers are others or one of those is not 0. M permits: there are never so many.
  local function rate(i)
    local numbers, what, a, b = ARGV[i + 1], ARGV[i + 8], tonumber(ARGV[i + 9]), tonumber(ARGV[i + 10])
    local slack = tonumber(sub(numbers, 31, 44), 16)
    clock(tonumber(ARGV[i + 5]), tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7]), slack)
    local r = load(ARGV[i], numbers, what == 'R' or string.find(ARGV[i], '\0', 1, true))
    local epoch, known = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
    if r.epoch == 0 then
      r.epoch = math.max(moment, lost + 1, epoch + 1)
    elseif r.epoch <= lost then
      seldom().lose(r)
    end
    if epoch > r.epoch or known > r.given or known > 0 and epoch < r.epoch then
      seldom().mend(r, epoch, known, tonumber(ARGV[i + 4]))
    end
    if r.grows and (what ~= 'I' or r.changes) then seldom().change_slack(r) end
    if what == 'T' and (slack < r.slack or r.needed > 0) then seldom().shorten(r, slack) end
    local ok, date = 1, math.max(moment, r.paused)
    if what == 'T' or what == 'I' and a > 0 then
      if a > r.permits then return 'M ' .. r.permits, i + 13 end
      local hole = r.holes ~= '' and seldom().hole_for(r, a, b) or 0
      if hole > 0 then date = date_of(r.holes, hole) else date = date_for(r, a) end
      if b >= 0 and date - moment > b then
        ok = 0
      elseif what == 'T' and pause_of_loss > 0 then
        ok, date = 0, moment + pause_of_loss
      elseif what == 'T' then
        if hole > 0 then
          seldom().take_hole(r, hole, a)
        else
          log(r, date, a)
          r.following = math.floor(math.max(r.following, date) + a * r.interval)
        end
        r.given = r.given + a
        if date - moment > far then
          seldom().list(r, date, a)
          ok = 2
        end
      end
    elseif what ~= 'I' then
      seldom().change(r, i, what, a, b)
    end
    save(r)
    local answer = format('E %d %d %d %d %d', ok, r.given, date, moment, r.latest)
    local is_short = what ~= 'I' and not r.is_rare and r.numbers == numbers
    if is_short and epoch == r.epoch then return answer, i + 13 end
    answer = answer .. format(' %d', r.epoch)
    if is_short then return answer, i + 13 end
    return answer .. seldom().more(r), i + 13
  end

  local made = { rate = rate, seldom = function() return seldom() end }
  rates = function() return made end
  return made
end
