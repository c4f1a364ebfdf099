-- The tables of games.db, format 3: one run. Everything about a game and its
-- turns stands in plain columns, but for the long texts, which lie compressed
-- together in transcripts, one row a game; go doc selfplay/bench says how to
-- read them. Nothing is ever changed once it is written, and a game comes
-- with all its turns or not at all.

CREATE TABLE games (
	position INTEGER PRIMARY KEY, -- in the plan, from 0
	id       TEXT NOT NULL,       -- unique: game/lang0-lang1/idx, with an r behind for role 1 of two equal languages
	session  INTEGER NOT NULL,    -- which entry of run.json's "how" played it, from 0
	game     TEXT NOT NULL,       -- environment id, such as TicTacToe-v0
	lang0    TEXT NOT NULL,       -- the language of seat 0; zh+fr: shown the game in zh, told to reason in fr
	lang1    TEXT NOT NULL,       -- of seat 1
	player0  TEXT NOT NULL DEFAULT '', -- who answers for seat 0: '', the run's model, or a built-in policy's name
	player1  TEXT NOT NULL DEFAULT '', -- for seat 1
	role     INTEGER NOT NULL,    -- 0, or 1 for the mirrored half of a cell: the same languages, seats swapped
	idx      INTEGER NOT NULL,    -- number within its cell, from 0
	seed     INTEGER NOT NULL,    -- of the deal; the same for the idx-th game of every cell
	reward0  INTEGER NOT NULL,    -- of seat 0: 1 won, -1 lost, 0 drawn
	reward1  INTEGER NOT NULL,    -- of seat 1
	invalid0 INTEGER NOT NULL,    -- 1: seat 0 lost by a second invalid move in a row
	invalid1 INTEGER NOT NULL,    -- the same of seat 1
	turns0   INTEGER NOT NULL,    -- moves of seat 0: valid ones, and the one that forfeits
	turns1   INTEGER NOT NULL,    -- of seat 1
	name0    TEXT NOT NULL,       -- seat 0's role in the game, in its language
	name1    TEXT NOT NULL,       -- seat 1's
	reason0  TEXT NOT NULL,       -- why the game ended as it did, as seat 0 is told
	reason1  TEXT NOT NULL,       -- as seat 1 is told
	opening0 INTEGER REFERENCES openings (id), -- what the first observation of seat 0 begins with; NULL: it had no turn
	opening1 INTEGER REFERENCES openings (id)  -- of seat 1
);

CREATE TABLE turns (
	game              INTEGER NOT NULL REFERENCES games (position),
	turn              INTEGER NOT NULL, -- from 0, of both seats together
	seat              INTEGER NOT NULL, -- 0 or 1: who answered
	status            TEXT NOT NULL,    -- how the action was found: boxed, raw or truncated
	finish            TEXT NOT NULL,    -- how the completion ended: stop, length, context or policy
	invalid           INTEGER NOT NULL, -- 1: the rules refused the action
	defaulted         INTEGER NOT NULL, -- 1: the rules could not read a choice and took their default
	regret            REAL,             -- what the move lost by perfect play; NULL: not known, or invalid
	optimal           INTEGER AS (regret = 0), -- 1: it lost nothing
	prompt_tokens     INTEGER NOT NULL, -- of the system prompt and the observation, in the chat template
	completion_tokens INTEGER NOT NULL, -- sampled
	thinking_tokens   INTEGER NOT NULL, -- of those, while thinking
	prefill_tokens    INTEGER NOT NULL, -- prompt tokens really computed; the others were still in the cache
	start_ms          INTEGER NOT NULL, -- since the start of the session
	end_ms            INTEGER NOT NULL, -- likewise
	action            TEXT,             -- extracted from the completion; NULL: it is long, see action_bytes
	wrapped           TEXT,             -- the action as the rules parsed it; NULL: it is long, see wrapped_bytes
	reason            TEXT NOT NULL,    -- why the rules refused it, in the seat's language
	kept              INTEGER NOT NULL, -- the observation begins with this many bytes of the seat's one before (the opening at its first turn)
	observation_bytes INTEGER NOT NULL, -- of the transcript: then these
	completion_bytes  INTEGER NOT NULL, -- of the transcript: the completion as the model wrote it
	thinking_bytes    INTEGER NOT NULL, -- of the transcript: the thinking in it
	action_bytes      INTEGER NOT NULL, -- of the transcript: the action; 0 if it stands in its column
	wrapped_bytes     INTEGER NOT NULL, -- of the transcript: the same of wrapped
	PRIMARY KEY (game, turn)
) WITHOUT ROWID;

-- Texts that many games begin with: the rules as a seat is shown them.
CREATE TABLE openings (
	id   INTEGER PRIMARY KEY,
	game TEXT NOT NULL,    -- environment id
	seat INTEGER NOT NULL, -- 0 or 1
	lang TEXT NOT NULL,    -- of the seat
	text TEXT NOT NULL,    -- a first observation of it
	UNIQUE (game, seat, lang)
);

CREATE TABLE transcripts (
	game INTEGER PRIMARY KEY REFERENCES games (position),
	zstd BLOB NOT NULL     -- one zstd frame without a dictionary: the texts of its turns one behind the other
);

-- Only runs on watched GPUs fill these. A figure that the GPU did not tell is NULL.
CREATE TABLE gpus (
	session INTEGER NOT NULL, -- which entry of run.json's "how" used it
	gpu     INTEGER NOT NULL, -- within the session, from 0
	idx     INTEGER NOT NULL, -- as nvidia-smi shows it
	uuid    TEXT NOT NULL,
	name    TEXT NOT NULL,
	joules  REAL,             -- used while the session played
	source  TEXT,             -- of joules: counter (the GPU's own), power (integrated), both (the counter, but for gaps)
	PRIMARY KEY (session, gpu)
);

CREATE TABLE gpu_samples (
	session     INTEGER NOT NULL, -- as in gpus
	at_ms       INTEGER NOT NULL, -- since the session began to play
	gpu         INTEGER NOT NULL, -- as in gpus
	util        INTEGER,          -- percent of the time in which a kernel ran
	mem_util    INTEGER,          -- percent of the time in which memory was read or written
	mem_used    INTEGER,          -- bytes, of all processes
	power_mw    INTEGER,          -- milliwatts
	energy_mj   INTEGER,          -- millijoules: the GPU's counter, since its driver was loaded
	sm_mhz      INTEGER,          -- clock of the processors
	mem_mhz     INTEGER,          -- clock of the memory
	temperature INTEGER,          -- degrees Celsius
	throttle    TEXT,             -- why its clocks were held down: names with ", " between; '': they were not
	ecc         INTEGER,          -- uncorrected memory errors since the driver was loaded
	processes   INTEGER,          -- that compute on it
	PRIMARY KEY (session, at_ms, gpu)
) WITHOUT ROWID;
