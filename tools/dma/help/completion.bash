# Completion of dma in bash. It asks --help of the command that is being typed.
_dma() {
  local dma=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=() help value words= i
  local below='/^Subcommands:/ { on = 1; next } !NF { on = 0 } on { print $1 }'
  help=$("$dma" --help 2>/dev/null)
  for ((i = 1; i < COMP_CWORD; ++i)); do
    grep -Fqx -- "${COMP_WORDS[i]}" <(awk "$below" <<<"$help") || continue
    command+=("${COMP_WORDS[i]}")
    help=$("$dma" "${command[@]}" --help 2>/dev/null)
  done
  # --option=value arrives as three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  # "  --model FILE    file for ...": one space before the name of a value.
  value=$(awk -v option="$before" '/^  -[^ ]* [^ ]/ {
    for (i = split($1, names, ","); i > 0; --i) if (names[i] == option) print $2 }' <<<"$help")
  if [[ -z $value && $word == -* ]]; then
    words=$(awk '/^  -/ { for (i = split($1, names, /[,{}]/); i > 0; --i) if (names[i] ~ /^-/) print names[i] }' <<<"$help")
  elif [[ -z $value ]]; then
    words=$(awk "$below" <<<"$help")
    value=$(awk '/^Positionals:/ { on = 1; next } !NF { on = 0 } on { value = $2 } END { print value }' <<<"$help")
  fi
  case $value in
    FILE) words=$(compgen -f -- "$word") && compopt -o filenames 2>/dev/null ;;
    FOLDER) words=$(compgen -d -- "$word") && compopt -o filenames 2>/dev/null ;;
    KIND) words="all $("$dma" factors | awk 'NR > 1 { print $1 }')" ;;
    *METHOD*)
      words=${value//METHOD/$("$dma" factors --json | awk -F '"' '
        /"methods": / { on = 1; next } /}/ { on = 0 } on && $2 != "exact" && !seen[$2]++ { print $2 }')} ;;
    *'|'*) words=$value ;;
  esac
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -W "${words//|/$'\n'}" -- "$word")
}
complete -F _dma dma
