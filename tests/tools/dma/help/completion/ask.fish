# ask.fish FILE LINE: what fish offers at the end of the line, with the completion in FILE.
source $argv[1]
for offer in (complete -C $argv[2])
    echo (string split \t $offer)[1]
end
