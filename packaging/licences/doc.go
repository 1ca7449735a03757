// Package licences knows under which licences the modules are that redlockd is
// built from.
//
// Linked asks the go command which modules one build links, and finds their
// licence files; a Module says what these files are. Text is the file that
// goes into every archive, because most of these licences ask to be passed on
// with the program. Problems is the rule: what redlockd is built, tested and
// checked with must be under a licence that goes with MIT.
//
// Licences are recognised by their words (google/licensecheck), and never by
// what a module's page or README says.
package licences
