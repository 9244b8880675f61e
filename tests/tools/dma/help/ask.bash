# ask.bash FILE LINE: what bash offers at the end of the line, with the completion in FILE.
source "$1"
read -ra COMP_WORDS <<<"$2"
[[ $2 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_dma
printf '%s\n' "${COMPREPLY[@]}"
