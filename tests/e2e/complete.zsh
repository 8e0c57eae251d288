# SPDX-License-Identifier: Apache-2.0
# What Tab offers after a line, one "<word>" each: zsh -f complete.zsh FOLDER LINE
# FOLDER holds the completion function _tare; a file `rc` is written there.
zmodload zsh/zpty
print -r -- 'PROMPT=
fpath=('${(q)1}' $fpath)
autoload -Uz compinit
compinit -C -d '${(q)1}/dump'
bindkey "^I" complete-word
zstyle ":completion:*" insert-tab false
compadd() {
	# With -O, -A or -D it only asks what would match.
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	local -a hits
	local -A prefix
	builtin compadd -A hits "$@"
	zparseopts -E P:=prefix
	for hit in $hits; do print -r -- "<$IPREFIX$prefix[-P]$hit>"; done
}
comppostfuncs=(over)
over() { print -r -- "<>"; exit }
print ready' > $1/rc
zpty tab zsh -f -i
zpty -w tab "source ${(q)1}/rc"
zpty -r -m tab output '*ready*'
zpty -w -n tab "$2"$'\t'
while zpty -r tab output; do
	[[ $output == *'<>'* ]] && break
	print -rn -- $output
done
