#!/usr/bin/env bash
# Reads 540 handwritten digits with a classifier that JAX trained and exported (examples/digits), and shows the result.
#
#   examples/demo.sh           runs build/indim; another one is named by INDIM=path
#
# Needs bash, awk and od. Fails when an answer differs from JAX's.
set -eu -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

indim=${INDIM:-build/indim}
digits=examples/digits
arguments=(images hidden_weights hidden_bias output_weights output_bias)
arguments=("${arguments[@]/#/$digits/}")
arguments=("${arguments[@]/%/.npy}")

die() {
  echo "demo: $*" >&2
  exit 1
}

# numbers FILE.npy OD_TYPE WIDTH: the elements, one a line. The data of an .npy file follow 10 bytes and its header.
numbers() {
  od -An -v "-t$2" "-w$3" "-j$((10 + $(od -An -tu2 -j8 -N2 "$1")))" "$1"
}

# result N FILE.json: the elements of result number N as `indim run --json` printed it, one a line.
result() {
  awk -v number="$1" '
    { text = text $0 }
    END {
      parts = split(text, part, /"data"[ ]*:[ ]*/)
      if (parts < number + 2) exit 1
      data = part[number + 2]
      data = substr(data, 2, index(data, "]") - 2)
      count = split(data, value, /[ ]*,[ ]*/)
      for (i = 1; i <= count; i++) print value[i]
    }' "$2"
}

field() { sed -n "s/.*\"$1\": *\([^,]*\),*$/\1/p" "$digits/expected.json"; }

[ -x "$indim" ] || die "$indim is not there; ./dev build makes it"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat <<END
Handwritten digits, read by Indim

  program   $digits/digits.hlo   a classifier trained with JAX, as the HLO text that JAX exports
                                        (64 pixels, 64 hidden units, 10 digits; weights are arguments)
  input     $digits/images.npy   $(field images) scans, 8 x 8 pixels, none of them used in the training

\$ $indim run --json $digits/digits.hlo \\
      ${arguments[*]:0:3} \\
      ${arguments[*]:3}

END

started=$EPOCHREALTIME
"$indim" run --json "$digits/digits.hlo" "${arguments[@]}" >"$work/results.json" || die "indim run failed"
finished=$EPOCHREALTIME

# time_of ENGINE RUNS: the median time of one execution over all images, in nanoseconds, without reading and compiling;
# empty where this build has no such engine.
time_of() {
  "$indim" run --engine="$1" --repeat="$2" --json "$digits/digits.hlo" "${arguments[@]}" 2>/dev/null |
    sed -n 's/.*"median":\([0-9]*\).*/\1/p' || true
}
compiled=$(time_of native 200)
evaluated=$(time_of eval 3)

result 0 "$work/results.json" >"$work/digit" && result 1 "$work/results.json" >"$work/probability" ||
  die "indim run printed no two results"
numbers "$digits/labels.npy" u1 1 >"$work/label"
numbers "$digits/images.npy" u1 64 >"$work/image"
numbers "$digits/expected_digit.npy" d4 4 >"$work/expected_digit"
numbers "$digits/expected_probability.npy" f4 4 >"$work/expected_probability"
paste -d' ' "$work"/{digit,probability,label,expected_digit,expected_probability,image} >"$work/table"

awk -v seconds="$(awk "BEGIN { print $finished - $started }")" -v images="$(field images)" -v correct="$(field correct)" \
  -v compiled="$compiled" -v evaluated="$evaluated" '
  # A row of a picture: darker characters for more ink, two for a pixel so that pixels are square.
  function row(image, y,    x, text, ink) {
    text = ""
    for (x = 0; x < 8; x++) {
      ink = shade[int(pixel[image, 8 * y + x] / 4 + 0.5)]
      text = text ink ink
    }
    return text
  }
  # speed(name, ns): what an execution over all images took, and what that means for one of them.
  function speed(name, ns) {
    if (ns == "") { printf "  %-9s not in this build\n", name; return }
    printf "  %-9s %10.3f ms for all images, %12d predictions a second\n", name, ns / 1e6, n * 1e9 / ns
  }
  # strip(chosen, count): pictures side by side, with what was read under each.
  function strip(chosen, count,    i, y, line, said) {
    for (y = 0; y < 8; y++) {
      line = " "
      for (i = 1; i <= count; i++) line = line "  " row(chosen[i], y)
      print line
    }
    line = " "; said = " "
    for (i = 1; i <= count; i++) {
      line = line sprintf("  %-16s", sprintf("read %d, %5.1f %%", digit[chosen[i]], 100 * probability[chosen[i]]))
      said = said sprintf("  %-16s", (digit[chosen[i]] == label[chosen[i]] ? "and it is a " : "but it is a ") label[chosen[i]])
    }
    print line
    print said "\n"
  }
  BEGIN { shade[0] = " "; shade[1] = "░"; shade[2] = "▒"; shade[3] = "▓"; shade[4] = "█" }
  NF != 69 { print "demo: image " NR - 1 ": not one answer, one label and one picture" >"/dev/stderr"; failed = 1; exit }
  {
    n = NR
    digit[n] = $1 + 0; probability[n] = $2 + 0; label[n] = $3 + 0
    for (i = 0; i < 64; i++) pixel[n, i] = $(6 + i)
    difference = $2 - $5 < 0 ? $5 - $2 : $2 - $5
    if (difference > largest) largest = difference
    if (digit[n] != $4 && !unlike++) first = "image " n - 1 " is read as " digit[n] ", with JAX as " $4
    if (digit[n] != label[n]) { if (wrong < 4) misread[++shown] = n; wrong++ }
    else { right++; if (!(label[n] in seen) && samples < 4) { seen[label[n]] = 1; sample[++samples] = n } }
  }
  END {
    if (failed) exit 1
    print "  Some that it read right:\n"
    strip(sample, samples)
    print "  Some that it read wrong:\n"
    strip(misread, shown)
    printf "  %d images in %.2f s: %d read right, %d wrong\n", n, seconds, right, wrong
    printf "  accuracy %.2f %%; with JAX it was %.2f %% (%d of %d)\n", 100 * right / n, 100 * correct / images, correct, images
    speed("compiled", compiled)
    speed("evaluated", evaluated)
    if (n != images || right != correct || unlike) {
      fflush()
      printf "demo: %d of %d answers differ from JAX'"'"'s (%s); %d are right instead of %d\n", \
        unlike, images, first, right, correct >"/dev/stderr"
      exit 1
    }
    printf "  every answer is JAX'"'"'s; the probabilities differ from its by at most %.1e\n", largest
  }' "$work/table"
