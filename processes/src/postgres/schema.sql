-- The tables and functions of taketurns-processes on PostgreSQL 14 or newer, in a database with the encoding UTF8.
--
-- The function `turn_1` does on these tables what the script does on the keys of a Redis server: ../script/*.lua say what
-- each operation does, and why it is right. The head of ../script/turn.lua has the words and the invariants.
--
--     select taketurns.turn_1($1::text, $2::int, $3::text[])
--
--   $1, space     the name of the space
--   $2, number    the number of the partition in the space. The first call of a partition makes its row
--   $3, args      what ARGV is in the script: sid conn channel, then the operations. The function tells a session its
--                 news by NOTIFY on the channel `channel || sid`, which must be shorter than 64 bytes
--   durable       (a fourth argument, default true) false: the commit need not wait for the disk. true: it waits, also if
--                 the role has synchronous_commit = off
--   tells         (a fifth argument, default true) false: messages only get their numbers, and are not sent. So a call
--                 can run again whose commit has failed because the queue of notifications is full. The sessions notice
--                 the missing numbers with their next beats
--
-- Reply: the reply of the script, as the text of a JSON array. A text in PostgreSQL has no NUL. So in args and in all
-- texts of the reply, U+0001 n stands for NUL, and U+0001 s stands for U+0001.
--
-- A statement may have several calls, and then they are committed together. All calls of a transaction must be of one
-- partition, or of partitions in ascending order; otherwise two transactions may wait for each other. The function needs
-- READ COMMITTED, where each of its statements sees what was committed before the call got its partition.
--
-- This file can run again: it keeps all rows, and makes what is missing. The names of functions and types carry a version,
-- so two releases of the package can use the same tables side by side. A change of any function here is a new version.

create schema if not exists taketurns;

-- How to read this file: `turn_1`, at the end, runs the operations of a call one after the other. What it knows of the call
-- is in the record `c`. A function that changes the call, an object `o` or a rate `r` takes them and returns them, so its
-- caller writes `c := f(c)`, or `did := f(c, o); c := did.c; o := did.o`. What most calls need is written out in `turn_1`,
-- because it costs time to call a function.

-- Tables ---------------------------------------------------------------------------------------------------------------
--
-- What the keys of the script are here:
--
--   META                      partition; since when a request holds is in the row of the request
--   OBJECTS                   object; the deaths of which a holder was told are in the row of its request
--   QUEUE                     the rows of request with `waits`; the entries NUL name are in unfinished
--   RECORDS                   request; the dates of rates are in dated
--   SESSIONS, LEASES, SEQS    session: conn, reads and label; sign; seq
--   the keys of rates         rate
--
-- Texts sort by their bytes. Tickets are numbers here, and 14 hexadecimal digits in args and replies. Times are
-- milliseconds of Unix time, but for those of rates, which are microseconds.

-- One row a partition. Its lock makes the calls of the partition run one after the other. `history` to `late` are as in
-- tickets.lua, `first` and `since` as in sessions.lua; `began`, `noticed`, `shift`, `seen` and `timer` as in rates.lua, where
-- `noticed` is called `lost`, and `shift` is called `offset`.
create table if not exists taketurns.partition (
  id int generated always as identity primary key,
  space text collate "C" not null,
  number int not null,
  v int,
  p text collate "C",
  lease text collate "C",
  ticket bigint not null default 0,
  history text collate "C",
  epoch int not null default 0,
  leapt bigint not null default 0,
  late bigint not null default 0,
  began bigint,
  noticed text collate "C",
  beaten bigint not null default 0,
  first text collate "C",
  since bigint,
  shift double precision,
  seen double precision,
  timer text collate "C",
  unique (space, number)
) with (fillfactor = 10);

-- The name of the history of a partition. The table is unlogged, so it is empty after a crash, and on a server that was
-- promoted. Then the data may lack their last calls, and tickets leap. In a restored dump and in a copy of the database the
-- table has its rows, but another identity, see `history_1`. A copy of the data of a stopped server is like the original:
-- `delete from taketurns.history` says that it is another history.
create unlogged table if not exists taketurns.history (
  part int primary key,
  name text collate "C" not null
);

-- conn, reads and label are null while a dead session still has requests. seq: the number of the last message. sign: the
-- ticket of the last sign of life.
create table if not exists taketurns.session (
  part int,
  sid text collate "C",
  conn bigint,
  reads int,
  label text collate "C",
  seq bigint not null,
  sign bigint not null,
  primary key (part, sid)
) with (fillfactor = 50);

-- bypass to holder are 0, false or null but for mutexes. served: the ticket of the last head of the queue, which is smaller
-- than those of all requests that wait. Whoever looks for the head begins behind it: requests that have left the queue
-- stay in its index until a vacuum, and all looks would pass them.
create table if not exists taketurns.object (
  part int,
  name text collate "C",
  kind text collate "C" not null,
  max bigint not null,
  robust boolean not null,
  ephemeral boolean not null,
  born bigint not null,
  free bigint not null,
  waiting bigint not null default 0,
  deaths bigint not null default 0,
  bypass bigint not null default 0,
  passes bigint not null default 0,
  lent bigint not null default 0,
  noticed boolean not null default false,
  holder text collate "C",
  served bigint not null default 0,
  primary key (part, name)
) with (fillfactor = 50);

-- All requests that wait or hold. base: `passes` of the mutex when the request came. since: when it came, or since when it
-- holds. deaths: of how many deaths its holder was told.
create table if not exists taketurns.request (
  part int,
  sid text collate "C",
  rid text collate "C",
  name text collate "C" not null,
  ticket bigint not null,
  n bigint not null,
  base bigint not null,
  waits boolean not null,
  since bigint not null,
  deaths bigint not null default 0,
  primary key (part, sid, rid)
) with (fillfactor = 50);

create index if not exists request_queue on taketurns.request (part, name, ticket) where waits;

-- The objects for which grants are left.
create table if not exists taketurns.unfinished (
  part int,
  name text collate "C",
  primary key (part, name)
);

-- The states of rates, see rates.lua. numbers: as in the args. Runs and holes: their dates, and the permits of each. A
-- state counts until the time `until`.
create table if not exists taketurns.rate (
  part int,
  name text collate "C",
  numbers text collate "C" not null,
  given double precision not null,
  following double precision not null,
  latest double precision not null,
  taken double precision not null,
  epoch double precision not null,
  run_dates double precision[] not null,
  run_counts double precision[] not null,
  hole_dates double precision[] not null,
  hole_counts double precision[] not null,
  is_rare boolean not null,
  resized double precision not null,
  repaired double precision not null,
  paused double precision not null,
  moved double precision not null,
  stopped double precision not null,
  cancelled double precision not null,
  needed double precision not null,
  until bigint not null,
  primary key (part, name)
) with (fillfactor = 50);

-- Dates that lie far ahead, which are free again when their session ends.
create table if not exists taketurns.dated (
  part int,
  sid text collate "C",
  date double precision,
  given bigint,
  n bigint,
  epoch double precision,
  name text collate "C",
  primary key (part, sid, date, given, n, epoch, name)
);

-- Rows change often, and a call is as quick as there are few dead ones.
alter table taketurns.partition set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
alter table taketurns.session set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
alter table taketurns.object set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
alter table taketurns.request set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table taketurns.rate set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Types ----------------------------------------------------------------------------------------------------------------

do $$ begin
  -- What the functions of a call share. From `v` to `timer` the fields are the columns of the partition; is_changed: one
  -- of them has another value. is_compared: the history was compared. own: the news for the caller. news: those for the
  -- sessions told, each at the same place. gone: the sessions that this call has ended. idle: the names of ephemeral
  -- objects that may have become idle. These five are null while they are empty. The last four are known once a rate has
  -- asked for the time, see `clock_1`.
  create type taketurns.call_1 as (
    part int, sid text, caller text, now bigint, micros bigint, work bigint, topmost bigint, current text,
    is_compared boolean, is_changed boolean, own text[], told text[], news text[], gone text[], idle text[],
    v int, p text, lease text, ticket bigint, history text, epoch int, leapt bigint, late bigint, began bigint,
    noticed text, beaten bigint, first text, since bigint, shift double precision, seen double precision, timer text,
    moment double precision, far double precision, pause_of_loss double precision, lost double precision
  );
exception when duplicate_object then null; end $$;

do $$ begin
  -- The state of a rate without what does not count any more, and what follows from its numbers.
  create type taketurns.rate_1 as (
    name text, numbers text, permits double precision, per double precision, burst double precision,
    slack double precision, span double precision, pace double precision,
    given double precision, following double precision, latest double precision, taken double precision,
    epoch double precision, run_dates double precision[], run_counts double precision[],
    hole_dates double precision[], hole_counts double precision[], is_rare boolean, resized double precision,
    repaired double precision, paused double precision, moved double precision,
    stopped double precision, cancelled double precision, needed double precision, grows boolean, is_changed boolean
  );
exception when duplicate_object then null; end $$;

-- Small helpers --------------------------------------------------------------------------------------------------------

create or replace function taketurns.hex_1(value bigint) returns text language sql immutable as
$$ select lpad(to_hex(value), 14, '0') $$;

create or replace function taketurns.number_1(hex text) returns bigint language sql immutable as
$$ select ('x' || lpad(hex, 16, '0'))::bit(64)::bigint $$;

-- What a row of `history` names: another one if the row was written again, as a restored dump does (xmin), or if it lies in
-- another table or database. VACUUM FULL and pg_upgrade keep all three.
create or replace function taketurns.history_1(name text, writer xid, of_table oid) returns text language sql stable as
$$ select concat_ws('-', writer, of_table, split_part(pg_relation_filepath(of_table), '/', -2), name) $$;

-- Where the row of a session or an object is. While a transaction holds a snapshot, the index leads to all earlier versions
-- of the row, too. A search for the key looks at all of them; the order of these searches, here and in `turn_1`, leads to
-- the latest version first. The planner takes these functions into the statements.
create or replace function taketurns.session_at_1(part int, sid text) returns setof tid language sql stable as $$
  select x.ctid from taketurns.session x where (x.part, x.sid) >= ($1, $2) and (x.part, x.sid) <= ($1, $2)
    order by x.part desc, x.sid desc limit 1
$$;

create or replace function taketurns.object_at_1(part int, name text) returns setof tid language sql stable as $$
  select x.ctid from taketurns.object x where (x.part, x.name) >= ($1, $2) and (x.part, x.name) <= ($1, $2)
    order by x.part desc, x.name desc limit 1
$$;

-- Tickets (tickets.lua) ------------------------------------------------------------------------------------------------

-- The data has another history, or the caller knows a later ticket (`is_compared` is not true): lets the tickets leap.
create or replace function taketurns.compare_1(inout c taketurns.call_1) language plpgsql as $$
declare
  before bigint := c.ticket;
  is_other boolean;
begin
  c.is_compared := true;
  if c.current is null then
    c.current := replace(gen_random_uuid()::text, '-', '');
    insert into taketurns.history as h values (c.part, c.current)
      returning taketurns.history_1(h.name, h.xmin, h.tableoid) into c.current;
  end if;
  is_other := c.history is distinct from c.current;
  c.is_changed := true;
  c.late := (c.now - 1577836800000) * 1024;
  before := greatest(before, c.topmost);
  if c.late <= before then c.late := before + 16777216; end if;
  c.ticket := c.late + (select count(*) from taketurns.request r where r.part = c.part and r.waits)
    + (select count(*) from taketurns.unfinished u where u.part = c.part);
  c.leapt := c.ticket;
  if c.history is not null or c.topmost > 0 then
    c.began := c.now;
    c.noticed := '-' || right(c.current, 5);
  end if;
  if is_other then
    c.history := c.current;
    c.epoch := c.epoch + 1;
  end if;
end $$;

-- Gives a ticket, which is then the ticket of the call.
create or replace function taketurns.next_ticket_1(inout c taketurns.call_1) language plpgsql as $$
begin
  if not c.is_compared then c := taketurns.compare_1(c); end if;
  c.ticket := c.ticket + 1;
  c.is_changed := true;
end $$;

-- Objects (objects.lua) ------------------------------------------------------------------------------------------------

-- Writes an object.
create or replace function taketurns.keep_1(inout c taketurns.call_1, in o taketurns.object) language plpgsql as $$
begin
  update taketurns.object x set kind = o.kind, max = o.max, free = o.free, waiting = o.waiting, deaths = o.deaths,
    passes = o.passes, lent = o.lent, noticed = o.noticed, holder = o.holder, served = o.served
    where x.ctid = (select * from taketurns.object_at_1(o.part, o.name));
  if o.ephemeral and o.free = o.max and o.waiting = 0 and o.deaths = 0 then c.idle := c.idle || o.name; end if;
end $$;

-- Requests and the queue (requests.lua, queue.lua) ---------------------------------------------------------------------

-- Notes news for a session.
create or replace function taketurns.tell_1(inout c taketurns.call_1, in whom text, in what text) language plpgsql as $$
begin
  if whom = c.caller then
    c.own := c.own || what;
  else
    c.told := c.told || whom;
    c.news := c.news || what;
  end if;
end $$;

-- A request gets its permits. said: what its process is told.
create or replace function taketurns.hold_1(
  inout o taketurns.object, in holder text, in ticket bigint, in n bigint, out said text
) language plpgsql as $$
declare
  head record;
begin
  o.free := o.free - n;
  said := taketurns.hex_1(ticket) || ':' || o.deaths;
  o.deaths := 0;
  if o.kind = 'm' then
    o.holder := holder;
    o.noticed := false;
    o.lent := least(255, o.bypass);
    if o.waiting > 0 then
      -- See `lend` in queue.lua.
      select r.sid, r.base into head from taketurns.request r
        where r.part = o.part and r.name = o.name and r.waits and r.ticket > o.served order by r.ticket limit 1;
      o.lent := ceil((o.bypass - (o.passes - head.base)) / least(o.waiting, 64)::numeric);
      o.lent := greatest(0, least(255, o.lent));
      o.noticed := head.sid <> left(holder, 16);
    end if;
  end if;
  said := said || ':' || case when o.kind = 'r' then o.max else o.lent end || ':' || o.waiting;
end $$;

-- A waiter leaves the queue without permits, and its process hears why.
create or replace function taketurns.turn_away_1(
  inout c taketurns.call_1, inout o taketurns.object, in sid text, in rid text, in ticket bigint, in why text
) language plpgsql as $$
begin
  c.work := c.work - 1;
  o.waiting := o.waiting - 1;
  o.served := ticket;
  delete from taketurns.request r where r.part = c.part and r.sid = turn_away_1.sid and r.rid = turn_away_1.rid;
  c := taketurns.tell_1(c, sid, rid || ':' || why);
end $$;

-- Grants as long as the head can be served.
create or replace function taketurns.grant_1(inout c taketurns.call_1, inout o taketurns.object) language plpgsql as $$
declare
  head taketurns.request;
  held record;
  before bigint;
begin
  -- Only a semaphore that was resized may have waiters that ask for more than all permits.
  while o.waiting > 0 and (o.free > 0 or o.kind = 'r') loop
    select * into head from taketurns.request r
      where r.part = o.part and r.name = o.name and r.waits and r.ticket > o.served order by r.ticket limit 1;
    if head.n > o.free and head.n <= o.max then return; end if;
    if c.work <= 0 then
      insert into taketurns.unfinished values (o.part, o.name) on conflict do nothing;
      c.own := c.own || '+'::text;
      return;
    end if;
    if head.n > o.max then
      held := taketurns.turn_away_1(c, o, head.sid, head.rid, head.ticket, 'm' || o.max);
      c := held.c;
      o := held.o;
    else
      c.work := c.work - 1;
      o.served := head.ticket;
      -- A request that has waited since an earlier history gets a new ticket, see `renew` in queue.lua.
      if not c.is_compared then c := taketurns.compare_1(c); end if;
      if head.ticket <= c.leapt then
        c.late := c.late + 1;
        c.is_changed := true;
        head.ticket := c.late;
      end if;
      before := o.deaths;
      update taketurns.request r set waits = false, ticket = head.ticket, since = c.now, deaths = before
        where r.part = head.part and r.sid = head.sid and r.rid = head.rid;
      o.waiting := o.waiting - 1;
      held := taketurns.hold_1(o, head.sid || head.rid, head.ticket, head.n);
      o := held.o;
      c := taketurns.tell_1(c, head.sid, head.rid || ':' || held.said);
    end if;
  end loop;
end $$;

-- The state of a request of the caller.
create or replace function taketurns.state_1(inout c taketurns.call_1, in r taketurns.request, out told text)
language plpgsql as $$
declare
  o taketurns.object;
  lent bigint := 0;
  waiting bigint := 0;
begin
  if r.part is null then
    told := 'G';
  elsif r.waits then
    told := 'Q';
  else
    select * into o from taketurns.object x where x.ctid = (select * from taketurns.object_at_1(r.part, r.name));
    if found and r.ticket > o.born then
      if o.holder = r.sid || r.rid then
        if not c.is_compared then c := taketurns.compare_1(c); end if;
        -- A mutex that was granted in an earlier history is passed on no more.
        if r.ticket > c.leapt then lent := o.lent; end if;
      end if;
      waiting := o.waiting;
    end if;
    told := 'H ' || taketurns.hex_1(r.ticket) || ':' || r.deaths || ':' || lent || ':' || waiting || ':' || r.n;
  end if;
end $$;

-- Takes a request away, whether it waits or holds. died: whether its session has died.
create or replace function taketurns.drop_1(inout c taketurns.call_1, in sid text, in rid text, in died boolean)
language plpgsql as $$
declare
  r taketurns.request;
  o taketurns.object;
  granted record;
begin
  delete from taketurns.request x where x.part = c.part and x.sid = drop_1.sid and x.rid = drop_1.rid returning * into r;
  select * into o from taketurns.object x where x.ctid = (select * from taketurns.object_at_1(c.part, r.name));
  if not found or r.ticket <= o.born then return; end if; -- also if another drop has turned it away
  if r.waits then
    o.waiting := o.waiting - 1;
  else
    o.free := o.free + r.n;
    if o.robust then o.deaths := o.deaths + r.deaths + died::int; end if;
    o.passes := o.passes + o.lent;
    o.lent := 0;
    o.noticed := false;
    o.holder := null;
  end if;
  granted := taketurns.grant_1(c, o);
  c := taketurns.keep_1(granted.c, granted.o);
end $$;

-- Takes the waiters of a name out of the queue, up to a ticket, and writes the object. is_left: whether some are left.
create or replace function taketurns.expel_1(
  inout c taketurns.call_1, in o taketurns.object, in why text, in up_to bigint, out is_left boolean
) language plpgsql as $$
declare
  head record;
  did record;
begin
  while o.waiting > 0 loop
    select r.sid, r.rid, r.ticket into head from taketurns.request r
      where r.part = o.part and r.name = o.name and r.waits and r.ticket > o.served order by r.ticket limit 1;
    is_left := head.ticket <= up_to and c.work <= 0;
    if is_left or head.ticket > up_to then
      did := taketurns.grant_1(c, o);
      c := did.c;
      o := did.o;
      exit;
    end if;
    did := taketurns.turn_away_1(c, o, head.sid, head.rid, head.ticket, why);
    c := did.c;
    o := did.o;
  end loop;
  c := taketurns.keep_1(c, o);
end $$;

-- A semaphore gets another number of permits.
create or replace function taketurns.resize_1(inout c taketurns.call_1, in o taketurns.object, in most bigint)
language plpgsql as $$
declare
  granted record;
begin
  o.kind := 'r';
  o.free := o.free + most - o.max;
  o.max := most;
  granted := taketurns.grant_1(c, o);
  c := taketurns.keep_1(granted.c, granted.o);
end $$;

-- Sessions (sessions.lua) ----------------------------------------------------------------------------------------------

-- Takes requests of a session away. is_whole: whether it certainly has taken all.
create or replace function taketurns.clear_1(inout c taketurns.call_1, in victim text, in died boolean, out is_whole boolean)
language plpgsql as $$
declare
  each_rid text;
  taken int := 0;
begin
  for each_rid in
    select r.rid from taketurns.request r where r.part = c.part and r.sid = victim order by r.rid limit c.work
  loop
    taken := taken + 1;
    c := taketurns.drop_1(c, victim, each_rid, died);
  end loop;
  c.work := greatest(c.work - taken, 0);
  c.work := c.work - taketurns.free_1(c, victim);
  is_whole := c.work > 0;
end $$;

-- Takes a session out of the list of those that exist.
create or replace function taketurns.unlist_1(in c taketurns.call_1, in victim text) returns void language sql as
$$ update taketurns.session s set conn = null, reads = null, label = null where s.part = c.part and s.sid = victim $$;

-- Forgets a session whose requests are all gone.
create or replace function taketurns.forget_1(inout c taketurns.call_1, in victim text) language plpgsql as $$
begin
  delete from taketurns.session s where s.part = c.part and s.sid = victim;
  c.gone := c.gone || victim;
end $$;

-- Takes back what dead sessions hold. counts: whether `seen` is of the present history. is_left: whether dead sessions may
-- be left.
create or replace function taketurns.reap_1(
  inout c taketurns.call_1, in seen text, out counts boolean, out is_left boolean
) language plpgsql as $$
declare
  victim text;
  found_dead int := 0;
  cleared record;
begin
  counts := false;
  if not c.is_compared then c := taketurns.compare_1(c); end if;
  if substr(seen, 16) <> c.epoch || '.' || c.history then return; end if;
  counts := true;
  for victim in
    select s.sid from taketurns.session s where s.part = c.part and s.sign <= taketurns.number_1(left(seen, 14))
      order by s.sign, s.sid limit 4
  loop
    found_dead := found_dead + 1;
    perform taketurns.unlist_1(c, victim);
    cleared := taketurns.clear_1(c, victim, true);
    c := cleared.c;
    if not cleared.is_whole then
      is_left := true;
      return;
    end if;
    c := taketurns.forget_1(c, victim);
  end loop;
  is_left := found_dead = 4;
end $$;

-- Finds the session that has been silent for longest, and notes since when, by the clock, it is this session.
create or replace function taketurns.note_1(inout c taketurns.call_1, out eldest text) language plpgsql as $$
begin
  select s.sid into eldest from taketurns.session s where s.part = c.part order by s.sign, s.sid limit 1;
  if eldest is not null and (eldest = c.sid or eldest is distinct from c.first) then
    c.first := eldest;
    c.since := c.now;
    c.is_changed := true;
  end if;
end $$;

-- A beat, and the answer to it.
create or replace function taketurns.beat_1(inout c taketurns.call_1, in seen text, out answer text) language plpgsql as $$
declare
  own_sign bigint;
  left_name text;
  o taketurns.object;
  did record;
  reaped record;
  noted record;
begin
  c := taketurns.next_ticket_1(c);
  own_sign := c.ticket;
  c.beaten := c.now;
  update taketurns.session s set sign = own_sign where s.ctid = (select * from taketurns.session_at_1(c.part, c.sid));
  -- Goes on with the grants of one object that are left.
  delete from taketurns.unfinished u where u.part = c.part and u.name =
    (select x.name from taketurns.unfinished x where x.part = c.part order by x.name limit 1) returning u.name into left_name;
  if left_name is not null then
    select * into o from taketurns.object x where x.ctid = (select * from taketurns.object_at_1(c.part, left_name));
    did := taketurns.grant_1(c, o);
    c := taketurns.keep_1(did.c, did.o);
  end if;
  reaped := taketurns.reap_1(c, seen);
  noted := taketurns.note_1(reaped.c);
  c := noted.c;
  answer := 'B ' || (select s.seq from taketurns.session s where s.ctid = (select * from taketurns.session_at_1(c.part, c.sid)))
    || case when reaped.is_left or left_name is not null then ' 1 ' else ' 0 ' end
    || taketurns.hex_1(own_sign) || ' ' || c.epoch || '.' || c.history;
end $$;

-- Opens the session or resumes it (`O` in operations.lua). at: where its arguments begin. ends: whether the call ends with
-- this answer.
create or replace function taketurns.enter_1(
  inout c taketurns.call_1, in conn bigint, in args text[], in at int,
  out answer text, out ends boolean
) language plpgsql as $$
declare
  writes int := substring(args[at] from '^[0-9]+')::int;
  reads int := substring(args[at] from '[0-9]+$')::int;
  p text := args[at + 1];
  lease text := args[at + 2];
  label text := args[at + 3];
  seen text := args[at + 4];
  known record;
  asked boolean;
  others boolean;
  counts boolean;
  is_left boolean;
  eldest text;
  differs boolean;
  waits boolean;
  silence bigint;
  v int;
  did record;
begin
  c.topmost := taketurns.number_1(args[at + 5]);
  c.is_compared := c.is_compared and c.topmost <= c.ticket;
  select s.conn into known from taketurns.session s where s.part = c.part and s.sid = c.sid and s.conn is not null;
  if conn = 0 then
    asked := exists (select from taketurns.request r where r.part = c.part)
      or exists (select from taketurns.dated d where d.part = c.part);
    did := taketurns.reap_1(c, seen);
    counts := did.counts;
    is_left := did.is_left;
    did := taketurns.note_1(did.c);
    c := did.c;
    eldest := did.eldest;
    others := exists (select from taketurns.session s where s.part = c.part);
    v := coalesce(c.v, writes);
    if c.v is not null then
      differs := c.p <> p or reads < v;
      waits := others and (c.lease <> lease or exists (
        select from taketurns.session s where s.part = c.part and s.reads < writes));
      silence := c.now - c.since;
      if is_left or not differs and eldest is not null and not counts and (asked or waits)
        and (silence < 0 or silence >= c.lease::bigint) then
        ends := true;
        if is_left then
          answer := 'Z ' || c.lease || ' ' || seen;
        else
          c := taketurns.next_ticket_1(c);
          answer := 'Z ' || c.lease || ' ' || taketurns.hex_1(c.ticket) || ' ' || c.epoch || '.' || c.history;
        end if;
        return;
      end if;
      if differs or waits then
        ends := true;
        answer := 'V ' || c.v || ' ' || c.p || ' ' || c.lease;
        return;
      end if;
    end if;
    c.v := greatest(v, writes);
    c.p := p;
    c.lease := lease;
  elsif known.conn is null then
    ends := true;
    answer := 'DEAD';
    return;
  elsif known.conn > conn then
    ends := true;
    answer := 'STALE';
    return;
  end if;
  c := taketurns.next_ticket_1(c);
  c.beaten := c.now;
  insert into taketurns.session as s values (c.part, c.sid, conn, reads, label, conn * 4294967296, c.ticket)
    on conflict on constraint session_pkey do update set conn = excluded.conn, reads = excluded.reads, label = excluded.label,
      seq = excluded.seq, sign = excluded.sign;
  answer := 'O ' || taketurns.hex_1(c.ticket) || ' ' || c.epoch || '.' || c.history;
  did := taketurns.note_1(c);
  c := did.c;
end $$;

-- Rates (rates.lua) ----------------------------------------------------------------------------------------------------
--
-- All numbers are doubles, as they are to the script.

-- Finds the time of the partition, `moment`.
create or replace function taketurns.clock_1(
  inout c taketurns.call_1, in told double precision, in low double precision, in high double precision,
  in slack double precision
) language plpgsql as $$
declare
  jump constant double precision := 1000000;
  beats constant double precision := 5;
  far constant double precision := 1250;
  beat double precision := c.lease::double precision / beats;
  least_time double precision := coalesce(c.seen, 0);
  most_time double precision := 0;
  here double precision := c.micros;
  rest double precision;
begin
  if c.moment is not null then return; end if;
  c.far := c.lease::double precision * far;
  if told > 0 then
    least_time := greatest(least_time, told + floor(low * 0.999));
    most_time := greatest(least_time, told + ceil(high * 1.001)) + floor(slack / 4);
  elsif c.timer <> c.sid
    and exists (select from taketurns.session s where s.part = c.part and s.sid = c.timer and s.conn is not null) then
    most_time := least_time + beat * 1100;
  end if;
  c.moment := here + coalesce(c.shift, 0);
  if c.moment < least_time then
    c.moment := least_time;
  elsif most_time > 0 and c.moment > most_time then
    if c.moment - most_time > jump then
      c.began := c.now;
      c.noticed := '-';
      c.moment := least_time;
    else
      c.moment := floor(most_time);
    end if;
  end if;
  if c.moment <> here + coalesce(c.shift, 0) then c.shift := c.moment - here; end if;
  c.seen := c.moment;
  c.is_changed := true;
  -- Two servers may have taken over at the same time of the partition. The names of their histories differ.
  if left(c.noticed, 1) = '-' then c.noticed := (c.moment + taketurns.number_1('0' || substr(c.noticed, 2)))::bigint; end if;
  rest := coalesce(c.began, 0) + beat - c.now;
  if rest > beat then
    c.began := c.now;
    rest := beat;
  end if;
  c.pause_of_loss := case when rest > 0 then ceil(rest * 1000) else 0 end;
  c.lost := case when rest > 0 then coalesce(c.noticed::double precision, 0) else 0 end;
end $$;

-- Reads the state of a rate, without what lies a window behind the time, or behind the latest date.
create or replace function taketurns.load_1(
  in c taketurns.call_1, in rate_name text, in wanted text, in replaces boolean, out r taketurns.rate_1
) language plpgsql as $$
declare
  s taketurns.rate;
  past double precision;
  pace_before double precision;
  at int := 1;
begin
  r.name := rate_name;
  r.numbers := wanted;
  r.slack := taketurns.number_1(substr(wanted, 31, 14));
  select * into s from taketurns.rate x where x.part = c.part and x.name = rate_name and x.until * 1000 >= c.micros;
  if s.numbers <> wanted then
    if not replaces then r.numbers := s.numbers; end if;
    r.grows := r.slack > taketurns.number_1(substr(s.numbers, 31, 14));
    r.slack := greatest(r.slack, taketurns.number_1(substr(s.numbers, 31, 14)));
    r.numbers := left(r.numbers, 30) || taketurns.hex_1(r.slack::bigint);
  end if;
  r.permits := taketurns.number_1(left(r.numbers, 8));
  r.per := taketurns.number_1(substr(r.numbers, 9, 14));
  r.burst := taketurns.number_1(substr(r.numbers, 23, 8));
  r.span := r.per + r.slack;
  r.pace := r.span / r.permits;
  r.is_changed := false;
  if s.part is null then
    r.given := 0;
    r.following := 0;
    r.latest := 0;
    r.taken := 0;
    r.epoch := 0;
    r.run_dates := '{}';
    r.run_counts := '{}';
    r.hole_dates := '{}';
    r.hole_counts := '{}';
    r.is_rare := false;
    r.resized := 0;
    r.repaired := 0;
    r.paused := 0;
    r.moved := 0;
    r.stopped := 0;
    r.cancelled := 0;
    r.needed := 0;
    return;
  end if;
  r.given := s.given;
  r.following := s.following;
  r.latest := s.latest;
  r.taken := s.taken;
  r.epoch := s.epoch;
  r.run_dates := s.run_dates;
  r.run_counts := s.run_counts;
  r.hole_dates := s.hole_dates;
  r.hole_counts := s.hole_counts;
  r.is_rare := s.is_rare;
  r.resized := s.resized;
  r.repaired := s.repaired;
  r.paused := s.paused;
  r.moved := s.moved;
  r.stopped := s.stopped;
  r.cancelled := s.cancelled;
  r.needed := s.needed;
  if replaces and s.numbers <> r.numbers and r.following > c.moment then
    -- What is due in so many intervals stays due in so many.
    pace_before := (taketurns.number_1(substr(s.numbers, 9, 14)) + taketurns.number_1(substr(s.numbers, 31, 14)))::double precision
      / taketurns.number_1(left(s.numbers, 8));
    r.following := floor(c.moment + (r.following - c.moment) * (r.pace / pace_before));
  end if;
  past := greatest(c.moment, r.latest) - r.span;
  while r.run_dates[at] <= past loop
    r.taken := r.taken - r.run_counts[at];
    at := at + 1;
  end loop;
  if at > 1 then
    r.run_dates := r.run_dates[at:];
    r.run_counts := r.run_counts[at:];
    at := 1;
  end if;
  while r.hole_dates[at] <= c.moment loop at := at + 1; end loop;
  if at > 1 then
    r.hole_dates := r.hole_dates[at:];
    r.hole_counts := r.hole_counts[at:];
  end if;
end $$;

-- Writes the state of a rate, if it has changed.
create or replace function taketurns.save_1(in c taketurns.call_1, in r taketurns.rate_1) returns void language plpgsql as $$
declare
  last_time constant double precision := 9007199254740991;
  jump constant double precision := 1000000;
  due double precision := least(r.following, last_time);
  counts double precision := greatest(r.latest + r.span, due, r.paused, c.moment);
  lasts bigint := ceil((counts - c.moment + jump + r.slack) / 1000) + 1;
begin
  if not r.is_changed then return; end if;
  if r.resized = 1 then lasts := 31536000000; end if;
  update taketurns.rate x set numbers = r.numbers, given = r.given, following = due, latest = r.latest, taken = r.taken,
    epoch = r.epoch, run_dates = r.run_dates, run_counts = r.run_counts, hole_dates = r.hole_dates, hole_counts = r.hole_counts,
    is_rare = r.is_rare, resized = r.resized, repaired = r.repaired, paused = r.paused, moved = r.moved,
    stopped = r.stopped, cancelled = r.cancelled, needed = r.needed, until = c.now + lasts
    where x.part = c.part and x.name = r.name;
  if found then return; end if;
  -- Each new rate removes up to two that do not count any more: those behind it, or the first ones.
  -- The rows are found first: a plan that was made for few rates would look at all rates of the partition.
  delete from taketurns.rate x where x.until * 1000 < c.micros and x.ctid = any (
    array(select y.ctid from taketurns.rate y where y.part = c.part and y.name > r.name order by y.name limit 2)
    || array(select y.ctid from taketurns.rate y where y.part = c.part order by y.name limit 2));
  insert into taketurns.rate values (c.part, r.name, r.numbers, r.given, due, r.latest, r.taken, r.epoch, r.run_dates,
    r.run_counts, r.hole_dates, r.hole_counts, r.is_rare, r.resized, r.repaired, r.paused, r.moved, r.stopped,
    r.cancelled, r.needed, c.now + lasts);
end $$;

-- Adds permits to the runs.
create or replace function taketurns.log_1(inout r taketurns.rate_1, in date double precision, in k double precision)
language plpgsql as $$
declare
  most_runs constant int := 64;
  most_count constant double precision := 4294967295;
  runs int := cardinality(r.run_dates);
  part double precision := r.span / most_runs;
  added double precision := k;
begin
  if r.run_dates[runs] = date
    or runs > most_runs and floor(r.run_dates[runs] / part) = floor(date / part) then
    added := least(r.run_counts[runs] + k, most_count);
    r.taken := r.taken - r.run_counts[runs];
    r.run_dates[runs] := date;
    r.run_counts[runs] := added;
  else
    r.run_dates := r.run_dates || date;
    r.run_counts := r.run_counts || added;
  end if;
  r.taken := r.taken + added;
  r.latest := greatest(r.latest, date);
  r.is_changed := true;
end $$;

-- When k permits would go that are asked for now, behind all others.
create or replace function taketurns.date_for_1(in c taketurns.call_1, in r taketurns.rate_1, in k double precision)
returns double precision language plpgsql as $$
declare
  tick constant double precision := 5000;
  ahead double precision := greatest((r.burst - least(k, r.burst)) * r.pace, least(tick, r.pace));
  date double precision := greatest(c.moment + c.pause_of_loss, r.latest, r.paused, ceil(r.following - ahead));
  over double precision := r.taken + k - r.permits;
  at int := 1;
begin
  while over > 0 and at <= cardinality(r.run_dates) loop
    over := over - r.run_counts[at];
    date := greatest(date, r.run_dates[at] + r.span);
    at := at + 1;
  end loop;
  return date;
end $$;

-- A new epoch begins. repaired: up to which number permits of earlier epochs count here.
create or replace function taketurns.begin_1(
  inout r taketurns.rate_1, in new_epoch double precision, in repaired double precision
) language plpgsql as $$
begin
  r.epoch := new_epoch;
  r.repaired := repaired;
  r.hole_dates := '{}';
  r.hole_counts := '{}';
  r.is_rare := true;
  r.is_changed := true;
end $$;

-- The caller knows another epoch, or more of this one: the state may lack permits of which the caller knows.
create or replace function taketurns.mend_1(
  in c taketurns.call_1, inout r taketurns.rate_1, in known_epoch double precision, in known double precision,
  in known_last double precision
) language plpgsql as $$
declare
  counts boolean := known_last + r.span > c.moment;
  missing double precision;
begin
  if known_epoch < r.epoch and not counts then
    r.given := greatest(r.given, known);
    return;
  end if;
  missing := known - case when known_epoch = r.epoch then r.given else r.repaired end;
  if known_epoch >= r.epoch then r := taketurns.begin_1(r, greatest(c.moment, known_epoch + 1), r.repaired); end if;
  if missing <= 0 then return; end if;
  r.repaired := known;
  r.given := r.given + missing;
  r.is_rare := true;
  if not counts then return; end if;
  r := taketurns.log_1(r, greatest(r.latest, known_last), least(missing, r.permits));
  r.following := greatest(r.following, floor(known_last + least(missing, r.burst) * r.pace));
end $$;

-- The slack becomes another one, so a new epoch begins.
create or replace function taketurns.change_slack_1(in c taketurns.call_1, inout r taketurns.rate_1)
language plpgsql as $$
begin
  r := taketurns.begin_1(
    r, greatest(c.moment, r.epoch + 1), case when c.pause_of_loss > 0 then r.repaired else r.given end
  );
end $$;

-- Nobody has asked for so long a slack for a while: it becomes as long as the caller asks for.
create or replace function taketurns.shorten_1(
  in c taketurns.call_1, inout r taketurns.rate_1, in wanted double precision
) language plpgsql as $$
declare
  quiet constant double precision := 60000000;
begin
  if wanted = r.slack or r.needed = 0 then
    r.needed := c.moment;
    r.is_rare := true;
    r.is_changed := true;
  elsif c.moment - r.needed > quiet then
    for i in 1..cardinality(r.run_dates) loop r.run_dates[i] := r.run_dates[i] + r.slack - wanted; end loop;
    r := taketurns.change_slack_1(c, r);
    r.latest := r.latest + r.slack - wanted;
    r.needed := 0;
    r.numbers := left(r.numbers, 30) || taketurns.hex_1(wanted::bigint);
    r.slack := wanted;
    r.span := r.per + wanted;
    r.pace := r.span / r.permits;
  end if;
end $$;

-- The process gives a date back that it has not used.
create or replace function taketurns.unused_1(
  in c taketurns.call_1, inout r taketurns.rate_1, in date double precision, in k double precision
) language plpgsql as $$
declare
  most_holes constant int := 256;
  at int := 1;
  due double precision := 0;
begin
  if date < r.paused or date > r.latest then return; end if;
  if date > c.moment then
    while r.hole_dates[at] < date loop at := at + 1; end loop;
    if r.hole_dates[at] = date then
      r.hole_counts[at] := r.hole_counts[at] + k;
      r.is_changed := true;
    elsif cardinality(r.hole_dates) < most_holes then
      r.hole_dates := r.hole_dates[:at - 1] || date || r.hole_dates[at:];
      r.hole_counts := r.hole_counts[:at - 1] || k || r.hole_counts[at:];
      r.is_changed := true;
    end if;
    return;
  end if;
  while r.run_dates[at] < date loop at := at + 1; end loop;
  if r.run_dates[at] is distinct from date or r.run_counts[at] < k then return; end if;
  if r.run_counts[at] = k then
    r.run_dates := r.run_dates[:at - 1] || r.run_dates[at + 1:];
    r.run_counts := r.run_counts[:at - 1] || r.run_counts[at + 1:];
  else
    r.run_counts[at] := r.run_counts[at] - k;
  end if;
  r.taken := r.taken - k;
  r.is_changed := true;
  for i in at..cardinality(r.run_dates) loop
    due := greatest(due, r.run_dates[i]) + r.run_counts[i] * r.pace;
  end loop;
  r.following := least(r.following, floor(greatest(due, r.following - k * r.pace)));
end $$;

-- Lists a date of the caller that lies far ahead, and takes some off the list that have passed.
create or replace function taketurns.list_1(
  in c taketurns.call_1, in r taketurns.rate_1, in date double precision, in k double precision
) returns void language plpgsql as $$
declare
  old taketurns.dated;
  moved double precision;
begin
  for old in
    select * from taketurns.dated d where d.part = c.part and d.sid = c.sid and d.date < c.moment
      order by d.date, d.given, d.n, d.epoch, d.name limit 4
  loop
    moved := r.moved;
    if old.name <> r.name then
      select l.moved into moved from taketurns.load_1(c, old.name, '00000001000000000f42400000000100000000000000', false) l;
    end if;
    if old.date + moved < c.moment then
      delete from taketurns.dated d where d.part = old.part and d.sid = old.sid and d.date = old.date
        and d.given = old.given and d.n = old.n and d.epoch = old.epoch and d.name = old.name;
    end if;
  end loop;
  insert into taketurns.dated
    values (c.part, c.sid, date - r.moved, r.given::bigint % 68719476736, k::bigint, r.epoch, r.name)
    on conflict do nothing;
end $$;

-- Tells sessions that they must look at a rate.
create or replace function taketurns.tell_all_1(inout c taketurns.call_1, in tag text) language plpgsql as $$
declare
  most_found constant int := 256;
  sids text[];
begin
  select array_agg(x.sid) into sids from (
    select s.sid from taketurns.session s where s.part = c.part order by s.sign, s.sid limit most_found) x
    where x.sid <> c.sid;
  if sids is null then return; end if;
  c.told := c.told || sids;
  c.news := c.news || array_fill('E:' || tag, array[cardinality(sids)]);
end $$;

-- All operations of `E` but T and I.
create or replace function taketurns.change_rate_1(
  inout c taketurns.call_1, inout r taketurns.rate_1, in what text, in args text[], in at int
) language plpgsql as $$
declare
  a double precision := args[at + 9];
  b double precision := args[at + 10];
  listed taketurns.dated;
  known boolean;
  delta double precision;
  remaining double precision;
  back double precision;
begin
  if what = 'C' or what = 'D' then
    known := what = 'C';
    if what = 'D' then
      select * into listed from taketurns.dated d
        where d.part = c.part and d.sid = c.sid and d.date = a and d.given = args[at + 11]::bigint % 68719476736
        order by d.n, d.epoch, d.name limit 1;
      if found then
        delete from taketurns.dated d where d.part = listed.part and d.sid = listed.sid and d.date = listed.date
          and d.given = listed.given and d.n = listed.n and d.epoch = listed.epoch and d.name = listed.name;
        known := true;
      end if;
    end if;
    if known and args[at + 12]::double precision = r.epoch then r := taketurns.unused_1(c, r, a + r.moved, b); end if;
  elsif what = 'P' then
    delta := greatest(0, c.moment + a - greatest(r.paused, c.moment + 1));
    if delta = 0 then return; end if;
    for i in 1..cardinality(r.run_dates) loop
      if r.run_dates[i] > c.moment then r.run_dates[i] := r.run_dates[i] + delta; end if;
    end loop;
    for i in 1..cardinality(r.hole_dates) loop r.hole_dates[i] := r.hole_dates[i] + delta; end loop;
    if r.latest > c.moment then r.latest := r.latest + delta; end if;
    r.following := r.following + delta;
    r.moved := r.moved + delta;
    r.paused := c.moment + a;
    r.stopped := c.moment;
    r.is_rare := true;
    r.is_changed := true;
    c := taketurns.tell_all_1(c, args[at + 10]);
  elsif what = 'L' then
    r.given := r.given + 1;
    r.cancelled := r.given;
    r.is_rare := true;
    r.is_changed := true;
    c := taketurns.tell_all_1(c, args[at + 10]);
  elsif what = 'S' and a >= 0 then
    r := taketurns.log_1(r, greatest(r.latest, c.moment), a);
    r.following := floor(greatest(r.following, r.latest) + a * r.pace);
    r.given := r.given + a;
  elsif what = 'S' then
    -- Gives back permits that were used and are not. The oldest go: what is left then counts for longest.
    remaining := -a;
    while remaining > 0 and r.run_dates[1] <= c.moment loop
      back := least(remaining, r.run_counts[1]);
      remaining := remaining - back;
      r.taken := r.taken - back;
      if back < r.run_counts[1] then
        r.run_counts[1] := r.run_counts[1] - back;
      else
        r.run_dates := r.run_dates[2:];
        r.run_counts := r.run_counts[2:];
      end if;
    end loop;
    r.following := greatest(0, floor(r.following - (-a - remaining) * r.pace));
    r.is_changed := true;
  elsif what = 'R' then
    r.resized := 1;
    r.is_rare := true;
    r.is_changed := true;
  end if;
end $$;

-- `E`: an operation on a rate.
create or replace function taketurns.rate_of_1(inout c taketurns.call_1, in args text[], in at int, out answer text)
language plpgsql as $$
declare
  numbers text := args[at + 1];
  what text := args[at + 8];
  a double precision := args[at + 9];
  b double precision := args[at + 10];
  slack double precision := taketurns.number_1(substr(args[at + 1], 31, 14));
  r taketurns.rate_1;
  changed record;
  epoch double precision := args[at + 2];
  known double precision := args[at + 3];
  ok int := 1;
  hole int := 0;
  date double precision;
  is_long boolean;
  reserved double precision;
begin
  c := taketurns.clock_1(c, args[at + 5]::double precision, args[at + 6]::double precision, args[at + 7]::double precision,
    slack);
  r := taketurns.load_1(c, args[at], numbers, what = 'R' or strpos(args[at], E'\x01n') > 0);
  if r.epoch = 0 then
    r.epoch := greatest(c.moment, c.lost + 1, epoch + 1);
  elsif r.epoch <= c.lost then
    -- The server has noticed a loss, and the state may lack the last permits that were given.
    r := taketurns.begin_1(r, greatest(c.moment, c.lost + 1), r.given);
  end if;
  if epoch > r.epoch or known > r.given or known > 0 and epoch < r.epoch then
    r := taketurns.mend_1(c, r, epoch, known, args[at + 4]::double precision);
  end if;
  if r.grows and (what <> 'I' or r.is_changed) then r := taketurns.change_slack_1(c, r); end if;
  if what = 'T' and (slack < r.slack or r.needed > 0) then r := taketurns.shorten_1(c, r, slack); end if;
  date := greatest(c.moment, r.paused);
  if what = 'T' or what = 'I' and a > 0 then
    if a > r.permits then
      answer := 'M ' || r.permits::bigint;
      return;
    end if;
    -- The first hole for so many permits.
    for i in 1..cardinality(r.hole_dates) loop
      exit when b >= 0 and r.hole_dates[i] - c.moment > b;
      if r.hole_counts[i] >= a then
        hole := i;
        exit;
      end if;
    end loop;
    date := case when hole > 0 then r.hole_dates[hole] else taketurns.date_for_1(c, r, a) end;
    if b >= 0 and date - c.moment > b then
      ok := 0;
    elsif what = 'T' and c.pause_of_loss > 0 then
      ok := 0;
      date := c.moment + c.pause_of_loss;
    elsif what = 'T' then
      if hole = 0 then
        r := taketurns.log_1(r, date, a);
        r.following := floor(greatest(r.following, date) + a * r.pace);
      elsif r.hole_counts[hole] = a then
        r.hole_dates := r.hole_dates[:hole - 1] || r.hole_dates[hole + 1:];
        r.hole_counts := r.hole_counts[:hole - 1] || r.hole_counts[hole + 1:];
      else
        r.hole_counts[hole] := r.hole_counts[hole] - a;
      end if;
      r.is_changed := true;
      r.given := r.given + a;
      if date - c.moment > c.far then
        perform taketurns.list_1(c, r, date, a);
        ok := 2;
      end if;
    end if;
  elsif what <> 'I' then
    changed := taketurns.change_rate_1(c, r, what, args, at);
    c := changed.c;
    r := changed.r;
  end if;
  perform taketurns.save_1(c, r);
  answer := 'E ' || ok || ' ' || r.given::bigint || ' ' || date::bigint || ' ' || c.moment::bigint || ' ' || r.latest::bigint;
  is_long := what = 'I' or r.is_rare or r.numbers <> numbers;
  if is_long or epoch <> r.epoch then answer := answer || ' ' || r.epoch::bigint; end if;
  if is_long then
    reserved := coalesce((select sum(n) from unnest(r.run_dates, r.run_counts) u(d, n) where d > c.moment), 0)
      - coalesce((select sum(n) from unnest(r.hole_counts) u(n)), 0);
    answer := answer || format(' %s %s %s %s %s %s %s %s %s %s', r.permits::bigint, r.per::bigint, r.burst::bigint,
      r.slack::bigint, r.resized::bigint, r.moved::bigint, r.stopped::bigint, r.cancelled::bigint,
      r.taken::bigint, reserved::bigint);
  end if;
end $$;

-- A session has ended: the dates that it has listed are free again. looked: at how many of them it has looked.
create or replace function taketurns.free_1(in c taketurns.call_1, in victim text, out looked int) language plpgsql as $$
declare
  each taketurns.dated;
  r taketurns.rate_1;
begin
  looked := 0;
  c.moment := coalesce(c.moment, c.seen);
  for each in
    select * from taketurns.dated d where d.part = c.part and d.sid = victim
      order by d.date, d.given, d.n, d.epoch, d.name limit c.work
  loop
    delete from taketurns.dated d where d.part = each.part and d.sid = each.sid and d.date = each.date
      and d.given = each.given and d.n = each.n and d.epoch = each.epoch and d.name = each.name;
    looked := looked + 1;
    r := taketurns.load_1(c, each.name, '00000001000000000f42400000000100000000000000', false);
    if each.epoch = r.epoch and each.date + r.moved > c.moment then
      r := taketurns.unused_1(c, r, each.date + r.moved, each.n);
    end if;
    perform taketurns.save_1(c, r);
  end loop;
end $$;

-- All operations but A, D, T and E (operations.lua) --------------------------------------------------------------------

-- operations.lua says what each operation does, and what it answers. at: where the arguments of the operation begin, and
-- then the place behind them. answer: as JSON.
create or replace function taketurns.operation_1(
  inout c taketurns.call_1, in letter text, in args text[], inout at int, out answer text
) language plpgsql as $$
declare
  most_found constant int := 256;
  o taketurns.object;
  r taketurns.request;
  did record;
  said text;
  lines text[];
  queue text[];
  holders text[];
  times text[];
  sids text[];
  sessions text[];
  behind text;
  is_resized boolean;
  up_to bigint;
begin
  case letter
  when 'C' then -- rid
    select * into r from taketurns.request x where x.part = c.part and x.sid = c.sid and x.rid = args[at];
    if r.waits then
      c := taketurns.drop_1(c, c.sid, r.rid, false);
      said := 'C';
    else
      did := taketurns.state_1(c, r);
      c := did.c;
      said := did.told;
    end if;
    at := at + 1;
  when 'B', 'W' then -- seen
    if letter = 'W' then c.caller := ''; end if;
    did := taketurns.beat_1(c, args[at]);
    c := did.c;
    said := did.answer;
    at := at + 1;
  when 'N' then -- name kind max robust ephemeral bypass
    select * into o from taketurns.object x where x.ctid = (select * from taketurns.object_at_1(c.part, args[at]));
    if not found then
      c := taketurns.next_ticket_1(c);
      insert into taketurns.object (part, name, kind, max, robust, ephemeral, born, free, bypass)
        values (c.part, args[at], args[at + 1], args[at + 2]::bigint, args[at + 3] = '1', args[at + 4] = '1', c.ticket,
          args[at + 2]::bigint, case when args[at + 1] = 'm' then args[at + 5]::bigint else 0 end)
        returning * into o;
      if o.ephemeral then c.idle := c.idle || o.name; end if;
    else
      is_resized := o.kind || args[at + 1] in ('rs', 'sr', 'rr');
      if not is_resized and (o.kind <> args[at + 1] or o.max <> args[at + 2]::bigint) or o.robust <> (args[at + 3] = '1')
        or o.ephemeral <> (args[at + 4] = '1') or o.bypass <> args[at + 5]::bigint then
        said := 'E ' || o.kind || ' ' || o.max || ' ' || o.robust::int || ' ' || o.ephemeral::int || ' ' || o.bypass;
      elsif o.kind = 's' and args[at + 1] = 'r' then
        c := taketurns.resize_1(c, o, args[at + 2]::bigint);
        o.kind := 'r';
        o.max := args[at + 2]::bigint;
      end if;
    end if;
    if said is null then
      said := 'N ' || taketurns.hex_1(o.born) || case when o.kind = 'r' then ' ' || o.max else '' end;
    end if;
    at := at + 6;
  when 'O' then
    raise exception 'taketurns: O must be the first operation of a call';
  when 'S' then -- from upTo count rid...
    lines := args[at + 3:at + 2 + args[at + 2]::int];
    up_to := 0;
    for r in
      select * from taketurns.request x where x.part = c.part and x.sid = c.sid
        and x.rid > args[at] and x.rid <= args[at + 1] order by x.rid limit most_found
    loop
      up_to := up_to + 1;
      if not r.rid = any (lines) then c := taketurns.drop_1(c, c.sid, r.rid, false); end if;
    end loop;
    if not c.is_compared then c := taketurns.compare_1(c); end if;
    sessions := array[case when up_to < most_found then 'S ' else 's ' end
      || (select s.seq from taketurns.session s where s.ctid = (select * from taketurns.session_at_1(c.part, c.sid)))
      || ' ' || c.epoch || '.' || c.history];
    foreach said in array lines loop
      select * into r from taketurns.request x where x.part = c.part and x.sid = c.sid and x.rid = said;
      did := taketurns.state_1(c, r);
      sessions := sessions || did.told;
    end loop;
    answer := to_json(sessions)::text;
    at := at + 3 + args[at + 2]::int;
  when 'U' then -- count rid...
    -- Each request has the time since when it holds, so a beat need not name it.
    said := 'U';
    at := at + 1 + args[at]::int;
  when 'X' then
    did := taketurns.clear_1(c, c.sid, false);
    c := did.c;
    if did.is_whole then
      c := taketurns.forget_1(c, c.sid);
      did := taketurns.note_1(c);
      c := did.c;
      said := 'X';
    else
      said := '+';
    end if;
  when 'V', 'F' then -- name rid ticket sid
    select * into r from taketurns.request x
      where x.part = c.part and x.sid = args[at + 3] and x.rid = args[at + 1] and x.name = args[at]
        and x.ticket = taketurns.number_1(args[at + 2]) and not x.waits;
    said := '0';
    if found then
      select * into o from taketurns.object x where x.ctid = (select * from taketurns.object_at_1(c.part, r.name));
      if found and r.ticket > o.born then
        said := '1';
        if letter = 'F' then
          c := taketurns.tell_1(c, r.sid, r.rid || ':r');
          c := taketurns.drop_1(c, r.sid, r.rid, true);
        end if;
      end if;
    end if;
    at := at + 4;
  when 'R', 'L', 'K' then -- name born, and max or upTo
    select * into o from taketurns.object x
      where x.part = c.part and x.name = args[at] and (args[at + 1] = '-' or taketurns.hex_1(x.born) = args[at + 1]);
    if not found or letter = 'R' and o.kind <> 's' and o.kind <> 'r' then
      said := 'X';
    elsif letter = 'R' then
      c := taketurns.resize_1(c, o, args[at + 2]::bigint);
      said := 'R';
    elsif letter = 'L' then
      up_to := case when args[at + 2] = '-' then c.ticket else taketurns.number_1(args[at + 2]) end;
      did := taketurns.expel_1(c, o, 'c', up_to);
      c := did.c;
      said := case when did.is_left then 'L ' || taketurns.hex_1(up_to) else 'L' end;
    else
      did := taketurns.expel_1(c, o, 'x', 9223372036854775807);
      c := did.c;
      if did.is_left then
        said := '+';
      else
        delete from taketurns.object x where x.part = o.part and x.name = o.name;
        said := 'K';
      end if;
    end if;
    at := at + case letter when 'K' then 2 else 3 end;
  when 'G' then -- seen low high
    c := taketurns.clock_1(c, args[at]::double precision, args[at + 1]::double precision, args[at + 2]::double precision, 0);
    c.timer := c.sid;
    said := 'G ' || c.moment::bigint || ' ' || coalesce(c.began, 0);
    at := at + 3;
  when 'I' then -- name limit place from
    select * into o from taketurns.object x where x.ctid = (select * from taketurns.object_at_1(c.part, args[at]));
    if not found then
      said := 'X';
    else
      select array_agg(x.name || E'\x01n' || taketurns.hex_1(x.ticket) || x.sid || x.rid || lpad(to_hex(x.n), 8, '0')
          || taketurns.hex_1(x.base) || lpad(to_hex(x.since), 11, '0') order by x.ticket), array_agg(x.sid order by x.ticket)
        into queue, sids from (
          select * from taketurns.request y where y.part = c.part and y.name = o.name and y.waits
            and y.ticket > taketurns.number_1(left(args[at + 2], 14))
            order by y.ticket limit args[at + 1]::int) x;
      behind := '';
      if args[at + 1]::int > 0 and o.free < o.max and (o.kind <> 'm' or args[at + 3] = '') then
        if o.kind = 'm' then
          select array_agg(x.sid || x.rid), array_agg(x.since::text), array_agg(x.sid || x.rid
              || taketurns.hex_1(x.ticket) || lpad(to_hex(x.n), 8, '0') || x.name)
            into lines, times, holders from taketurns.request x
            where x.part = c.part and x.sid = left(o.holder, 16) and x.rid = substr(o.holder, 17);
        else
          select array_agg(x.sid || x.rid order by x.sid, x.rid) filter (where x.holds),
              array_agg(x.since::text order by x.sid, x.rid) filter (where x.holds),
              array_agg(x.sid || x.rid || taketurns.hex_1(x.ticket) || lpad(to_hex(x.n), 8, '0') || x.name
                order by x.sid, x.rid) filter (where x.holds),
              case when count(*) = most_found then max(x.sid || x.rid) || 'g' else '' end
            into lines, times, holders, behind from (
              select y.*, y.name = o.name and y.ticket > o.born and not y.waits as holds from taketurns.request y
                where y.part = c.part and (y.sid, y.rid) > (left(args[at + 3], 16), substr(args[at + 3], 17))
                order by y.sid, y.rid limit most_found) x;
        end if;
        sids := sids || array(select left(l, 16) from unnest(lines) with ordinality u(l, place) order by place);
      end if;
      select array_agg(x.sid || ' ' || coalesce(s.conn || ' ' || s.reads || ' ' || s.label, '') order by x.place)
        into sessions from (select u.sid, min(u.place) as place from unnest(sids) with ordinality u(sid, place) group by 1) x
          left join taketurns.session s on s.part = c.part and s.sid = x.sid;
      answer := json_build_array(
        'I ' || o.kind || ' ' || o.max || ' ' || o.robust::int || ' ' || o.ephemeral::int || ' ' || taketurns.hex_1(o.born)
          || ' ' || o.free || ' ' || o.waiting || ' ' || o.deaths || ' ' || o.bypass,
        coalesce(queue, '{}'), coalesce(holders, '{}'), behind, coalesce(sessions, '{}'), coalesce(times, '{}'),
        c.now::text)::text;
    end if;
    at := at + 4;
  when 'J' then -- from
    select array_agg(x.sid || ' ' || coalesce(x.conn || ' ' || x.reads || ' ' || x.label, 'dead') order by x.sign, x.sid),
        case when count(*) = most_found then '(' || max(x.sign) else '-' end
      into lines, behind from (
        select * from taketurns.session s where s.part = c.part
          and (args[at] = '-inf' or s.sign > substr(args[at], 2)::bigint) order by s.sign, s.sid limit most_found) x;
    answer := to_json(('J ' || c.epoch || ' ' || c.history || ' ' || c.ticket || ' ' || behind) || lines)::text;
    at := at + 1;
  when 'P' then -- cursor: 0, or a colon and the last name that was told
    select array_agg(x.name || E'\x01n' || x.kind || ' ' || x.max || ' ' || x.robust::int || ' ' || x.ephemeral::int || ' '
          || taketurns.hex_1(x.born) || ' ' || x.free || ' ' || x.waiting || ' ' || x.deaths
          || case when x.kind = 'm' then ' ' || x.bypass || ' ' || x.passes || ' ' || x.lent || ' ' || x.noticed::int || ' '
            || coalesce(x.holder, '-') else '' end order by x.name),
        case when count(*) = most_found then ':' || max(x.name) else '0' end
      into lines, behind from (
        select * from taketurns.object y where y.part = c.part and y.name > substr(args[at], 2)
          order by y.name limit most_found) x;
    answer := to_json(behind || lines)::text;
    at := at + 1;
  else
    raise exception 'taketurns: there is no operation %', letter;
  end case;
  answer := coalesce(answer, to_json(said)::text);
end $$;

-- The call (call.lua, requests.lua) ------------------------------------------------------------------------------------

create or replace function taketurns.turn_1(
  space text, number int, args text[], durable boolean default true, tells boolean default true
) returns text language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  c taketurns.call_1;
  o taketurns.object;
  r taketurns.request;
  known record;
  did record;
  its_row tid;
  row_of_o tid;
  work constant bigint := 128;
  most_long constant int := 7900;
  conn bigint := args[2];
  answers text;
  answer text;
  at int := 4;
  permits bigint;
  k bigint;
  its_ticket bigint;
  note text;
  waits boolean;
  lives boolean;
  message text;
  whom text;
  seq bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'taketurns: turn_1 needs the isolation level READ COMMITTED, and this transaction has %',
      upper(current_setting('transaction_isolation')) using errcode = 'invalid_transaction_state',
      hint = 'Call the function in a transaction of its own, or begin with BEGIN ISOLATION LEVEL READ COMMITTED.';
  end if;
  if not durable then
    perform set_config('synchronous_commit', 'off', true);
  elsif current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  -- Later statements see what was committed before this one got the lock.
  loop
    select x.ctid, x.id, x.v, x.p, x.lease, x.ticket, x.history, x.epoch, x.leapt, x.late, x.began, x.noticed, x.beaten,
        x.first, x.since, x.shift, x.seen, x.timer
      into its_row, c.part, c.v, c.p, c.lease, c.ticket, c.history, c.epoch, c.leapt, c.late, c.began, c.noticed, c.beaten,
        c.first, c.since, c.shift, c.seen, c.timer
      from taketurns.partition x
      where (x.space, x.number) >= (turn_1.space, turn_1.number) and (x.space, x.number) <= (turn_1.space, turn_1.number)
      order by x.space desc, x.number desc limit 1 for no key update;
    exit when found;
    insert into taketurns.partition (space, number) values (turn_1.space, turn_1.number) on conflict do nothing;
  end loop;
  c.micros := extract(epoch from clock_timestamp()) * 1000000;
  c.now := c.micros / 1000;
  c.sid := args[1];
  c.caller := c.sid;
  c.work := work;
  c.topmost := 0;
  c.is_changed := false;
  select s.conn,
      (select taketurns.history_1(h.name, h.xmin, h.tableoid) from taketurns.history h where h.part = c.part) as current
    into known from taketurns.session s where (s.part, s.sid) >= (c.part, c.sid) and (s.part, s.sid) <= (c.part, c.sid)
    order by s.part desc, s.sid desc limit 1;
  if found then
    c.current := known.current;
  else
    c.current := (select taketurns.history_1(h.name, h.xmin, h.tableoid) from taketurns.history h where h.part = c.part);
  end if;
  c.is_compared := coalesce(c.current = c.history, false);

  if args[4] = 'O' then
    did := taketurns.enter_1(c, conn, args, 5);
    c := did.c;
    answers := to_json(did.answer)::text;
    at := case when did.ends then cardinality(args) + 1 else 11 end;
  else
    if known.conn is null then return '["DEAD"]'; end if;
    if known.conn <> conn then return '["STALE"]'; end if;
  end if;

  while at <= cardinality(args) loop
    lives := false;
    if args[at] in ('A', 'T', 'D') then
      select x.ctid, x.part, x.name, x.kind, x.max, x.robust, x.ephemeral, x.born, x.free, x.waiting, x.deaths, x.bypass,
          x.passes, x.lent, x.noticed, x.holder, x.served
        into row_of_o, o.part, o.name, o.kind, o.max, o.robust, o.ephemeral, o.born, o.free, o.waiting, o.deaths, o.bypass,
          o.passes, o.lent, o.noticed, o.holder, o.served
        from taketurns.object x where (x.part, x.name) >= (c.part, args[at + 1]) and (x.part, x.name) <= (c.part, args[at + 1])
        order by x.part desc, x.name desc limit 1;
    end if;
    case args[at]
    when 'A', 'T' then -- name born rid n
      answer := null;
      permits := taketurns.number_1(args[at + 4]);
      if not found or args[at + 2] <> '-' and args[at + 2] <> taketurns.hex_1(o.born) then
        answer := 'X';
      elsif permits > o.max then
        answer := 'M ' || o.max;
      else
        waits := o.waiting > 0 or permits > o.free;
        if waits and args[at] = 'T' then
          answer := 'R';
        else
          -- Two conditions: one with a subquery is a statement of its own, which costs time even if nothing needs to be asked.
          if not c.is_compared then
            if not exists (select from taketurns.request x where x.part = c.part and x.sid = c.sid and x.rid = args[at + 3]) then
              c := taketurns.compare_1(c);
            end if;
          end if;
          insert into taketurns.request values (c.part, c.sid, args[at + 3], o.name, c.ticket + 1, permits, o.passes, waits, c.now,
              case when waits then 0 else o.deaths end)
            on conflict do nothing;
        end if;
      end if;
      if answer is not null or not found then
        select * into r from taketurns.request x where x.part = c.part and x.sid = c.sid and x.rid = args[at + 3];
        if found then -- a client library has sent the operation twice
          did := taketurns.state_1(c, r);
          c := did.c;
          answer := did.told;
        end if;
      else
        c.ticket := c.ticket + 1;
        c.is_changed := true;
        lives := true;
        if waits then
          o.waiting := o.waiting + 1;
          if not o.noticed and o.lent > 0 and left(o.holder, 16) <> c.sid then
            o.noticed := true;
            c := taketurns.tell_1(c, left(o.holder, 16), '!' || substr(o.holder, 17));
          end if;
          answer := 'Q ' || o.waiting;
        else
          -- As `hold_1` does where nobody waits.
          if o.kind = 'm' then
            o.holder := c.sid || args[at + 3];
            o.noticed := false;
            o.lent := least(255, o.bypass);
          end if;
          answer := 'H ' || taketurns.hex_1(c.ticket) || ':' || o.deaths || ':'
            || case when o.kind = 'r' then o.max else o.lent end || ':0';
          o.free := o.free - permits;
          o.deaths := 0;
        end if;
      end if;
      answers := concat_ws(',', answers, '"' || answer || '"');
      at := at + 5;
    when 'D' then -- name rid ticket n k note passes count rid...
      its_ticket := taketurns.number_1(args[at + 3]);
      permits := taketurns.number_1(args[at + 4]);
      k := args[at + 5];
      note := left(args[at + 6], 1);
      if o.waiting > 0 and not c.is_compared then c := taketurns.compare_1(c); end if;
      lives := its_ticket > o.born;
      -- A request that waits is not given back: a failover that the caller has not noticed may have lost its grant.
      if k < permits then
        select * into r from taketurns.request x
          where x.part = c.part and x.sid = c.sid and x.rid = args[at + 2] and x.name = args[at + 1] and x.ticket = its_ticket
            and x.n = permits and not x.waits;
      else
        delete from taketurns.request x
          where x.part = c.part and x.sid = c.sid and x.rid = args[at + 2] and x.name = args[at + 1] and x.ticket = its_ticket
            and x.n = permits and not x.waits
          returning * into r;
      end if;
      if not found then
        lives := false;
        answers := concat_ws(',', answers, '"G"');
      else
        if k < permits then
          update taketurns.request x set n = x.n - k, deaths = case when lives and note = '-' then x.deaths else 0 end
            where x.part = c.part and x.sid = c.sid and x.rid = r.rid;
        end if;
        if lives then
          if note = 'r' or note = 'd' then o.deaths := o.deaths + r.deaths; end if;
          if note = 'd' and o.robust then o.deaths := o.deaths + 1; end if;
          o.free := o.free + k;
        end if;
        -- The requests to which the mutex was passed. If the object was disposed of, they may now belong to the next object
        -- of the name.
        for i in at + 9..at + 8 + args[at + 8]::int loop
          if lives then
            delete from taketurns.request x
              where x.part = c.part and x.sid = c.sid and x.rid = args[i] and x.name = o.name and (x.waits or x.ticket <= o.born)
              returning * into r;
            if r.waits then o.waiting := o.waiting - 1; end if;
          else
            c := taketurns.drop_1(c, c.sid, args[i], false);
          end if;
        end loop;
        if lives then
          o.passes := o.passes + least(args[at + 7]::bigint, o.lent);
          o.lent := 0;
          o.noticed := false;
          o.holder := null;
          if o.waiting > 0 then
            did := taketurns.grant_1(c, o);
            c := did.c;
            o := did.o;
          end if;
        end if;
        answers := concat_ws(',', answers, '"D"');
      end if;
      at := at + 9 + args[at + 8]::int;
    when 'E' then
      did := taketurns.rate_of_1(c, args, at + 1);
      c := did.c;
      answers := concat_ws(',', answers, '"' || did.answer || '"');
      at := at + 14;
    else
      did := taketurns.operation_1(c, args[at], args, at + 1);
      c := did.c;
      at := did.at;
      answers := concat_ws(',', answers, did.answer);
    end case;
    if lives then -- the object has changed; as `keep_1` does
      update taketurns.object x set free = o.free, waiting = o.waiting, deaths = o.deaths, passes = o.passes, lent = o.lent,
        noticed = o.noticed, holder = o.holder, served = o.served where x.ctid = row_of_o;
      if o.ephemeral and o.free = o.max and o.waiting = 0 and o.deaths = 0 then c.idle := c.idle || o.name; end if;
    end if;
  end loop;

  -- An ephemeral object is not kept if nobody needs it.
  if c.idle <> '{}' then
    delete from taketurns.object x
      where x.ctid = any (array(select t from unnest(c.idle) n, taketurns.object_at_1(c.part, n) t))
        and x.ephemeral and x.free = x.max and x.waiting = 0 and x.deaths = 0;
  end if;
  if c.is_changed then
    update taketurns.partition x set v = c.v, p = c.p, lease = c.lease, ticket = c.ticket, history = c.history, epoch = c.epoch,
      leapt = c.leapt, late = c.late, began = c.began, noticed = c.noticed, beaten = c.beaten, first = c.first, since = c.since, shift = c.shift,
      seen = c.seen, timer = c.timer where x.ctid = its_row;
  end if;
  -- One message for each session that is told something, or more if it is longer than a notification can be.
  for i in 1..coalesce(cardinality(c.told), 0) loop
    whom := c.told[i];
    continue when whom = any (c.gone);
    c.gone := c.gone || whom;
    for j in i..cardinality(c.told) + 1 loop
      if c.told[j] = whom and octet_length(message) + octet_length(c.news[j]) > most_long or j > cardinality(c.told) then
        update taketurns.session s set seq = s.seq + 1
          where s.ctid = (select * from taketurns.session_at_1(c.part, whom)) returning s.seq into seq;
        if tells then perform pg_notify(args[3] || whom, seq || ';' || message); end if;
        message := null;
      end if;
      if c.told[j] = whom then message := concat_ws(',', message, c.news[j]); end if;
    end loop;
  end loop;
  for i in 1..coalesce(cardinality(c.own), 0) loop answers := concat_ws(',', answers, '"' || c.own[i] || '"'); end loop;
  return concat('[', answers, ']');
end $$;
