// Package games holds the rules of the two-player text games and what each
// player is shown. It knows nothing of models.
//
// The rules, the messages and their order, and what counts as a valid answer
// are those of TextArena, to the byte; testdata holds games that TextArena
// played, and with a checkout at hand the tests play many more against it.
// Known differences, none of which a player of a normal game can notice:
//
//   - A number of more than 4,300 digits is an invalid move. TextArena's Tic Tac
//     Toe ends there with Python's ValueError. (In Nim it has a message for the
//     case, whose placeholders it never fills in; that is kept.)
//   - The digits of scripts that came with Unicode 15 are digits here and not yet
//     in Python 3.11.
package games
