// Package prompts holds what is said to the model and how its answer becomes
// an action: system prompts, thinking removed, the boxed answer taken. It is
// the same for every language.
package prompts
