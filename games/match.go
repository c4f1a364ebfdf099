package games

import (
	"strconv"
	"strings"

	"selfplay/locales"
)

// errorAllowance is how many invalid moves in a row a player may correct; the
// next one loses the game.
const errorAllowance = 1

// The messages that all games share.
const (
	saidPlayer = iota
	saidGame
	saidInvalidMove
)

var commonMessages = []locales.Message{
	saidPlayer:      {Key: "PlayerRoleMapping.player", Args: []string{"player_id"}},
	saidGame:        {Key: "LLMObservationWrappers.game"},
	saidInvalidMove: {Key: "MultiPlayerState.invalid_move", Args: []string{"current_player_id", "reason"}},
}

// A setting is what is fixed about a match before it starts.
type setting struct {
	texts  [2]*locales.Texts   // the game's messages in each seat's language
	common [2]*locales.Texts   // the shared ones
	wrap   func(string) string // the action wrapper
}

// A match is the state that every game shares: whose turn it is, what each seat
// has been shown, mistakes, the outcome. A game embeds it and adds its rules.
type match struct {
	setting
	shown [2]strings.Builder // each seat's whole history, ready to be read
	heads [2][3]string       // [reader][sender] begins a message; sender 2 is the game
	tags  []string           // cut out of what players write: they could be taken for heads

	mover  int
	errors int  // invalid moves that the mover has made in a row
	again  bool // this step's move was invalid and may be corrected
	event  Event
	ended  bool
	result Result
}

const gameSender = 2

// open prepares an empty match in which the players bear their plain names. A
// seat's history in an ordinary game takes some history bytes.
func (m *match) open(s setting, history int) {
	m.setting = s
	for seat := range 2 {
		m.shown[seat].Grow(history)
		name := s.common[seat].String(saidPlayer, strconv.Itoa(seat))
		m.result.Roles[seat] = name
		// A player is called by its name in its own language, whoever reads it.
		m.heads[0][seat] = "\n[" + name + "] "
		m.heads[1][seat] = m.heads[0][seat]
		m.heads[seat][gameSender] = "\n[" + s.common[seat].String(saidGame) + "] "
		m.tags = append(m.tags, "["+name+"]")
	}
	m.tags = append(m.tags, "[GAME]")
}

// rename gives the players roles, messages[seat], that each reader is told in
// its own language. TextArena does not cut such names out of what players write.
func (m *match) rename(messages [2]int) {
	for reader := range 2 {
		for seat, id := range messages {
			m.heads[reader][seat] = "\n[" + m.texts[reader].String(id) + "] "
		}
	}
	m.tags = []string{"[GAME]"}
}

// ToMove is the seat to act.
func (m *match) ToMove() int { return m.mover }

// Observation is the whole history of the player to move.
func (m *match) Observation() string { return m.shown[m.mover].String() }

// Result is the outcome, or before the end what is known of it.
func (m *match) Result() (Result, bool) { return m.result, m.ended }

// tell shows one seat a message of the game.
func (m *match) tell(seat, id int, args ...string) {
	m.shown[seat].WriteString(m.heads[seat][gameSender])
	m.texts[seat].Write(&m.shown[seat], id, args...)
}

// tellBoth shows it to both seats, each in its language.
func (m *match) tellBoth(id int, args ...string) {
	m.tell(0, id, args...)
	m.tell(1, id, args...)
}

// echo shows a seat what the player to move wrote.
func (m *match) echo(seat int, action string) {
	m.shown[seat].WriteString(m.heads[seat][m.mover])
	m.shown[seat].WriteString(m.cutTags(action))
}

// echoBoth shows it to both seats.
func (m *match) echoBoth(action string) {
	action = m.cutTags(action)
	for seat := range 2 {
		m.shown[seat].WriteString(m.heads[seat][m.mover])
		m.shown[seat].WriteString(action)
	}
}

func (m *match) cutTags(action string) string {
	for _, tag := range m.tags {
		action = strings.ReplaceAll(action, tag, "")
	}
	return action
}

// begin starts a step and gives the action that the rules are to parse.
func (m *match) begin(answer string) string {
	if m.ended {
		panic("games: Step after the end of the game")
	}
	m.event = Event{Action: m.wrap(answer)}
	return m.event.Action
}

// finish ends a step. The turn passes on unless the move may be corrected.
func (m *match) finish() Event {
	seat := m.mover
	if !m.again && !m.ended {
		m.mover = 1 - m.mover
	}
	return m.count(seat)
}

// finishAt ends a step with a valid move after which seat is to move.
func (m *match) finishAt(seat int) Event {
	m.mover = seat
	return m.count(seat)
}

// count counts a valid move for a seat.
func (m *match) count(seat int) Event {
	if !m.again {
		m.errors = 0
		m.result.Turns[seat]++
	}
	m.again = false
	return m.event
}

// refuse turns the move down: it may be corrected once, then the game is lost.
func (m *match) refuse(id int, args ...string) {
	m.event.Invalid = true
	m.event.Reason = m.texts[m.mover].String(id, args...)
	if m.errors == errorAllowance {
		m.result.Invalid[m.mover] = true
		m.win(1-m.mover, id, args...)
		return
	}
	m.errors++
	m.again = true
	history := &m.shown[m.mover]
	history.WriteString(m.heads[m.mover][gameSender])
	m.common[m.mover].Write(history, saidInvalidMove, strconv.Itoa(m.mover), m.event.Reason)
}

// win ends the game for one seat, with a message as the reason.
func (m *match) win(seat, id int, args ...string) {
	m.result.Rewards[seat], m.result.Rewards[1-seat] = 1, -1
	m.end(id, args...)
}

// draw ends the game without a winner.
func (m *match) draw(id int, args ...string) { m.end(id, args...) }

func (m *match) end(id int, args ...string) {
	for seat := range 2 {
		m.result.Reasons[seat] = m.texts[seat].String(id, args...)
	}
	m.ended = true
}
