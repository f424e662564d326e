/** Longest id of a job that is read, in octets; BullMQ counts ids in digits. */
export const MAX_JOB_ID_OCTETS = 128;
/** Longest data of a job that is read, in octets: 500 ids have 20 KB. */
export const MAX_JOB_DATA_OCTETS = 65_536;
/** Entries with too long an id that one call passes over; the next call continues. */
const MAX_PASSED_OVER = 1_000;

export interface JobFields {
  readonly name: string;
  /** As BullMQ stores them, in JSON. */
  readonly options: string;
}

/** Text in Lua, of any octets but line breaks. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

const READS = `
local stored = redis
local redis
do
  local call, reads = stored.call, {}

  -- At least one id, each followed by a comma.
  local function isIds(data)
    if string.sub(data, 1, 8) ~= '{"ids":[' or string.sub(data, -2) ~= ']}' then return false end
    return string.gsub(string.sub(data, 9, -3) .. ',', '"[%w-]+",', '') == ''
  end

  local function short(ids, drop)
    local kept = {}
    for _, id in ipairs(ids) do
      if #id <= ${MAX_JOB_ID_OCTETS} then kept[#kept + 1] = id else drop(id) end
    end
    return kept
  end

  function reads.RPOPLPUSH(from, to)
    for _ = 1, ${MAX_PASSED_OVER} do
      local id = call('RPOPLPUSH', from, to)
      if not id or #id <= ${MAX_JOB_ID_OCTETS} then return id end
      call('LPOP', to)
    end
    return false
  end

  function reads.ZPOPMIN(key)
    for _ = 1, ${MAX_PASSED_OVER} do
      local found = call('ZPOPMIN', key)
      if #found == 0 or #found[1] <= ${MAX_JOB_ID_OCTETS} then return found end
    end
    return {}
  end

  function reads.LRANGE(key, first, last)
    return short(call('LRANGE', key, first, last), function(id) call('LREM', key, 1, id) end)
  end

  function reads.SMEMBERS(key)
    return short(call('SMEMBERS', key), function(id) call('SREM', key, id) end)
  end

  function reads.HMSET(key, ...)
    if type(stored.pcall('HLEN', key)) ~= 'number' then call('UNLINK', key) end
    return call('HMSET', key, ...)
  end

  -- Without a parent, children or a deduplication, which would keep the job from being finished.
  function reads.HGETALL(key)
    call('HDEL', key, 'parent', 'parentKey', 'deid', 'rjk')
    call('UNLINK', key .. ':dependencies', key .. ':unsuccessful')
    local data = '{}'
    if call('HSTRLEN', key, 'data') <= ${MAX_JOB_DATA_OCTETS} then
      local found = call('HGET', key, 'data')
      if found and isIds(found) then data = found end
    end
    return { 'name', NAME, 'data', data, 'opts', OPTIONS, 'timestamp', '0', 'delay', '0', 'priority', '0' }
  end

  redis = setmetatable({
    call = function(command, ...)
      local read = reads[command]
      if read then return read(...) end
      return call(command, ...)
    end,
  }, { __index = stored })
end
`;

/**
 * Precedes those of BullMQ's scripts that hand jobs to a worker, and replaces how they read. Whoever writes to Redis chooses
 * what a job holds, and BullMQ parses all of it in the worker's process. Of a stored job only its data is read, if they are
 * ids as JobNotifier adds them and not too long, else `{}`; name and options are those of every job. Entries with too long an
 * id are dropped, and so is a value that is no hash where a job is stored.
 */
export const boundedJobs = ({ name, options }: JobFields): string =>
  `local NAME, OPTIONS = ${quoted(name)}, ${quoted(options)}${READS}`;

/** The keys of a queue, by the end of their name, and the type that BullMQ stores there. */
export const QUEUE_KEY_TYPES = {
  wait: 'list',
  active: 'list',
  paused: 'list',
  delayed: 'zset',
  prioritized: 'zset',
  'waiting-children': 'zset',
  completed: 'zset',
  failed: 'zset',
  repeat: 'zset',
  marker: 'zset',
  stalled: 'set',
  'stalled-check': 'string',
  id: 'string',
  pc: 'string',
  limiter: 'string',
  meta: 'hash',
  events: 'stream',
} as const;

/** Job schedulers that are read in one run; none of them has a long id. */
export const MAX_SCHEDULERS_READ = 20;
/** Digits of the largest number of jobs that a double counts exactly. */
const MAX_COUNTER_DIGITS = 15;
/** Twice BullMQ's `stalledInterval`. */
const MAX_STALLED_CHECK_MS = 60_000;

/**
 * KEYS: those of QUEUE_KEY_TYPES, in their order; ARGV: the end of each name, then each type. Removes values that BullMQ does
 * not write there, and ids that are too long to be read. Returns the ends of the names of the keys that it changed.
 */
export const REMOVE_FOREIGN_VALUES = `
local keys, changed = {}, {}

local function remove(name)
  redis.call('UNLINK', keys[name])
  changed[#changed + 1] = name
end

local function hasLong(members)
  for _, member in ipairs(members) do
    if #member > ${MAX_JOB_ID_OCTETS} then return true end
  end
  return false
end

for at, key in ipairs(KEYS) do
  local name, expected = ARGV[at], ARGV[#KEYS + at]
  keys[name] = key
  local type = redis.call('TYPE', key).ok
  if type ~= 'none' and type ~= expected then remove(name) end
end

for _, name in ipairs({ 'id', 'pc' }) do
  local length = redis.call('STRLEN', keys[name])
  if length > ${MAX_COUNTER_DIGITS} or length > 0 and not string.find(redis.call('GET', keys[name]), '^%d+$') then remove(name) end
end

local pauseMs = redis.call('PTTL', keys['stalled-check'])
if pauseMs == -1 or pauseMs > ${MAX_STALLED_CHECK_MS} then remove('stalled-check') end

-- BullMQ has two markers; one that is there wakes a worker.
if redis.call('ZCARD', keys.marker) > 2 or hasLong(redis.call('ZRANGE', keys.marker, 0, 1)) then
  remove('marker')
  redis.call('ZADD', keys.marker, 0, '0')
end

-- Removed ids make way for others, so until none is long.
for _ = 1, ${MAX_PASSED_OVER} do
  local ids = redis.call('ZRANGE', keys['repeat'], 0, ${MAX_SCHEDULERS_READ - 1})
  if not hasLong(ids) then break end
  changed[#changed + 1] = 'repeat'
  for _, id in ipairs(ids) do
    if #id > ${MAX_JOB_ID_OCTETS} then redis.call('ZREM', keys['repeat'], id) end
  end
end
return changed
`;
