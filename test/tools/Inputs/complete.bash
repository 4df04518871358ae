# complete.bash FILE WORD...: what FILE, a completion for bash, gives for the last
# word of `mille WORD...`, on one line.
source "$1"
shift
compopt() { echo "$*"; }
COMP_WORDS=(mille "$@") COMP_CWORD=$#
_mille
echo "${COMPREPLY[*]}"
