-- The call. First comes the check that the session may call at all. Then the operations run in order. Then the objects
-- that have changed are written. At last, sessions are told their news: other sessions by messages, the caller in the
-- reply.

-- A call of a session that has ended, or of a connection that has been replaced, does nothing.
local opens = ARGV[4] == 'O'
--- opens = opens or sid == ''
if not opens then
  local known = call('HGET', SESSIONS, sid)
  if not known then return { 'DEAD' } end
  if sub(known, 1, #conn + 1) ~= conn .. ' ' then return { 'STALE' } end
end

local answers = {}
local others
local i, last = 4, #ARGV
while i <= last do
  local operation, answer = ARGV[i], nil
  if operation == 'A' then
    answer, i = requests().ask(i + 1, true)
  elseif operation == 'D' then
    answer, i = requests().give_back(i + 1)
  elseif operation == 'T' then
    answer, i = requests().ask(i + 1, false)
  elseif operation == 'E' then
    answer, i = rates().rate(i + 1)
  elseif operation == 'G' then
    answer, i = rates().seldom().beat_of_rates(i + 1)
  else
    others = others or requests().rest().operations()
    answer, i = others[operation](i + 1)
  end
  answers[#answers + 1] = answer
  if not i then return answers end
end

for _, name in ipairs(changed) do requests().write(name) end
for _, to in ipairs(told) do
  if not gone[to] then
    local seq = call('HINCRBY', SEQS, to, 1)
    local text = format('%.0f', seq) .. ';' .. table.concat(tellings[to], ',')
    -- [server
    redis.pcall(sub(to, 1, 1) == 's' and 'SPUBLISH' or 'PUBLISH', channel .. to, text)
    -- server]
    --- call('PUBLISH', to, text)
  end
end
for _, text in ipairs(own) do answers[#answers + 1] = text end
return answers
