// Package bench runs the experiment: it plans the games, keeps what was
// played, and turns it into margins, tables and files.
//
// # The run folder
//
// A run is a folder of two files. run.json holds every setting of the
// experiment, and under "how" each invocation that wrote to the run. games.db is
// an SQLite database of the games that have ended, which any program may read,
// also while the run is being played: a game appears with all its turns at once.
// The comments of its schema (sqlite3 games.db .schema) explain every column;
// views answer the usual questions:
//
//	answers           one row an answer, with its game, language and player
//	sides             every game twice, once from each seat
//	margins           (won - lost) / games of a language over another
//	mean_margins      their mean over the languages met
//	first_mover       seat 0 over seat 1 in the same language
//	against_policies  the model against built-in opponents
//	answers_by_lang   statuses, ends, invalid answers and tokens by language
//	invalid_causes    refused answers by their cause
//	invalid_losses    games lost by a second invalid move in a row
//	tokens_per_turn   mean tokens by language and turn
//	perfect_play      moves against perfect play
//
// The long texts of a game lie in the table transcripts: one zstd frame a game,
// without a dictionary, so that any zstd program opens it. Its texts stand one
// behind the other, for each turn in order: what is new in the observation, the
// completion, the thinking in it, and the action and the wrapped action where
// these are longer than 200 bytes; the columns that end in _bytes say how long
// each is. An observation is the seat's whole history, so its first kept bytes
// are those of the seat's observation before, at its first turn of its opening.
// In Python:
//
//	db = sqlite3.connect("games.db"); db.row_factory = sqlite3.Row
//	opening = {o["id"]: o["text"].encode() for o in db.execute("SELECT * FROM openings")}
//	for g in db.execute("SELECT * FROM games JOIN transcripts t ON t.game = position ORDER BY position"):
//	    seen = [opening.get(g["opening0"], b""), opening.get(g["opening1"], b"")]
//	    texts = io.BytesIO(zstandard.decompress(g["zstd"]))
//	    for t in db.execute("SELECT * FROM turns WHERE game = ? ORDER BY turn", (g["position"],)):
//	        seen[t["seat"]] = seen[t["seat"]][:t["kept"]] + texts.read(t["observation_bytes"])
//	        completion = texts.read(t["completion_bytes"])
//	        thinking = texts.read(t["thinking_bytes"])
//	        action = t["action"] or texts.read(t["action_bytes"]).decode()
//	        wrapped = t["wrapped"] or texts.read(t["wrapped_bytes"]).decode()
package bench
