# ask.zsh FILE LINE: the line as zsh completes it, with the completion in FILE. A shell on a pseudo-terminal is typed to; Ctrl-X
# prints what stands there, so that nothing has to be waited for.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=(${1:h} \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word
show() { print -r -- \"<<\$BUFFER>>\" }; zle -N show; bindkey '^X' show; print REA''DY"
zpty -r -m shell output '*READY*'
zpty -w -n shell "$2"$'\t\x18'
zpty -r -m shell output '*<<*>>*'
print -r -- ${${output##*<<}%%>>*}
