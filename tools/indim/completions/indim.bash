# Completion of the indim command for bash.
_indim() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options=--help
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'run compile tune check print lint diff convert ops broadcast view explain shape lsp help --help --version' -- "$word")
    return
  fi
  case $command in
  run)
    options='--output= --json --layouts --engine=native --engine=eval --engine=auto --threads= --repeat= --profile --limits --fast='
    options+=' --without= --choices= --max-memory= --max-steps= --target= --custom-call= --ffi-handler= --crash-from= --help'
    ;;
  compile)
    options='--dump= --explain --time --output= --fast= --without= --choices= --json --max-memory= --target= --custom-call='
    options+=' --ffi-handler= --crash-from= --emit=object --emit=static-library --emit=shared-library --emit=asm --emit=llvm'
    options+=' --header= --name= --static-arguments= --self-contained --triple= --help'
    ;;
  tune)
    options='--output= --seconds= --gain= --threads= --json --choices= --fast= --target= --without= --custom-call='
    options+=' --ffi-handler= --max-memory= --crash-from= --help'
    ;;
  check) options='--json --help' ;;
  print) options='--output= --elide --metadata --percent --program-shapes --no-verify --help' ;;
  lint) options='--rules --allow= --only= --strict --min-bytes= --padding= --json --help' ;;
  diff) options='--json --html --all --brief --output= --help' ;;
  convert) options='--to=hlo --to=proto --to=stablehlo --to=stablehlo-text --no-verify --help' ;;
  ops) options='--json --markdown --stablehlo --help' ;;
  broadcast)
    options='--dims= --numpy --all --svg --html --json --output= --ascii --width= --color=always --color=never --color=auto --help'
    ;;
  view) options='--output= --profile= --target= --fast= --without= --choices= --custom-call= --ffi-handler= --max-memory= --crash-from= --help' ;;
  explain)
    options='--all --svg --html --json --output= --ascii --width= --color=always --color=never --color=auto --help'
    ;;
  shape)
    options='--all --svg --html --json --output= --ascii --width= --color=always --color=never --color=auto --help'
    ;;
  lsp) options='--stdio --no-lint --help' ;;
  help) options='run compile tune check print lint diff convert ops broadcast view explain shape lsp' ;;
  esac
  if [[ $word == -* || $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames
  fi
}
complete -F _indim indim
