// Package games holds the rules of the two-player text games and what each
// player is shown. It knows nothing of models.
//
// The rules, the messages and their order, and what counts as a valid answer
// are those of TextArena, to the byte; testdata holds games that TextArena
// played, and with a checkout at hand the tests play many more against it.
// The known differences are these, and players of ordinary games see none of
// them:
//
//   - A number of more than 4,300 digits, Python's limit, is an invalid move in
//     Tic Tac Toe and SimpleTak, and so are units in Colonel Blotto whose sum has
//     more. TextArena ends there with ValueError. (In Nim it has a message for
//     the case, but no values for its placeholders; it is shown as TextArena
//     shows it.)
//   - TextArena deals and charges one more round of Kuhn Poker after the last,
//     which nobody is asked to play. Here the books are closed with the last one.
//   - The commanders of Colonel Blotto are called by their names in the reader's
//     language, where TextArena prints a Python object.
//   - A locale file that could not be rendered is refused when a game starts, and
//     English need not be there for a game in other languages.
//   - The few digits that came with Unicode 15 are digits here, and not yet in
//     Python 3.11.
//
// Two of TextArena's ways that may surprise are kept. A move that forfeits counts
// as a turn. In Kuhn Poker the move that ends a round counts for the player who
// starts the next one.
package games
