-- Views for the usual questions, by game (environment id). Those on margins
-- count games in which the run's model answers for both seats; a rate of no
-- games is NULL. The program itself measures in Go; the tests hold both together.

-- One row an answer, with what belongs to its game.
CREATE VIEW answers AS
	SELECT g.id, g.game, t.turn, t.seat, CASE t.seat WHEN 0 THEN g.lang0 ELSE g.lang1 END AS lang,
		CASE t.seat WHEN 0 THEN g.player0 ELSE g.player1 END AS player,
		t.status, t.finish, t.invalid, t.defaulted, t.regret, t.optimal,
		t.prompt_tokens, t.completion_tokens, t.thinking_tokens, t.prefill_tokens, t.action, t.wrapped, t.reason
	FROM turns t JOIN games g ON g.position = t.game;

-- Every game twice, once from each seat: what a language did against another.
CREATE VIEW sides AS
	SELECT position, id, game, 0 AS seat, lang0 AS lang, lang1 AS other, player0 AS player, player1 AS opponent, reward0 AS reward, invalid0 AS invalid, turns0 AS moves FROM games
	UNION ALL
	SELECT position, id, game, 1, lang1, lang0, player1, player0, reward1, invalid1, turns1 FROM games;

-- The margin of lang over other: (won - lost) / games, both roles together.
CREATE VIEW margins AS
	SELECT game, lang, other, count(*) AS games, sum(reward > 0) AS won, sum(reward < 0) AS lost, sum(reward = 0) AS drawn,
		(sum(reward > 0) - sum(reward < 0)) * 1.0 / count(*) AS margin
	FROM sides WHERE player = '' AND opponent = '' AND lang <> other GROUP BY game, lang, other;

-- The mean margin of each language, over the languages that it met.
CREATE VIEW mean_margins AS
	SELECT game, lang, count(*) AS others, avg(margin) AS mu FROM margins GROUP BY game, lang;

-- What moving first is worth: seat 0 over seat 1 in the same language.
CREATE VIEW first_mover AS
	SELECT game, lang0 AS lang, count(*) AS games, sum(reward0 > 0) AS won, sum(reward0 < 0) AS lost, sum(reward0 = 0) AS drawn,
		(sum(reward0 > 0) - sum(reward0 < 0)) * 1.0 / count(*) AS margin
	FROM games WHERE player0 = '' AND player1 = '' AND lang0 = lang1 GROUP BY game, lang0;

-- The model in each language and seat against each built-in opponent.
CREATE VIEW against_policies AS
	SELECT game, lang, opponent, seat, count(*) AS games, sum(reward > 0) AS won, sum(reward < 0) AS lost, sum(reward = 0) AS drawn,
		(sum(reward > 0) - sum(reward < 0)) * 1.0 / count(*) AS margin
	FROM sides WHERE player = '' AND opponent <> '' GROUP BY game, lang, opponent, seat;

-- The model's answers by language: how their actions were found, how they ended,
-- how many the rules refused.
CREATE VIEW answers_by_lang AS
	SELECT game, lang, count(*) AS answers,
		sum(status = 'boxed') AS boxed, sum(status = 'raw') AS raw, sum(status = 'truncated') AS truncated,
		sum(finish = 'stop') AS stop, sum(finish = 'length') AS length, sum(finish = 'context') AS context,
		sum(invalid) AS invalid, sum(defaulted) AS defaulted,
		sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens, sum(thinking_tokens) AS thinking_tokens
	FROM answers WHERE player = '' GROUP BY game, lang;

-- The model's refused answers by cause, the most frequent first.
CREATE VIEW invalid_causes AS
	SELECT game, lang, status, finish, reason, count(*) AS answers
	FROM answers WHERE player = '' AND invalid GROUP BY game, lang, status, finish, reason ORDER BY answers DESC, 1, 2, 3, 4, 5;

-- Games lost by a second invalid move in a row, by the language that lost.
CREATE VIEW invalid_losses AS
	SELECT game, lang, count(*) AS games, sum(invalid) AS lost, avg(invalid) AS share
	FROM sides WHERE player = '' GROUP BY game, lang;

-- Mean tokens of the model's answers, by language and turn of the game.
CREATE VIEW tokens_per_turn AS
	SELECT game, lang, turn, count(*) AS answers, avg(prompt_tokens) AS prompt, avg(completion_tokens) AS completion, avg(thinking_tokens) AS thinking
	FROM answers WHERE player = '' GROUP BY game, lang, turn;

-- The model's valid moves against perfect play, where that is known.
CREATE VIEW perfect_play AS
	SELECT game, lang, count(*) AS moves, sum(optimal) AS optimal, avg(optimal) AS share, avg(regret) AS regret
	FROM answers WHERE player = '' AND regret IS NOT NULL GROUP BY game, lang;
