#!/bin/sh
# Copies what one broker left on its disks, for `tidemark audit`. Printed by `tidemark collect-script`.
#
#   sh collect.sh -o OUT -b BROKER [-s STATE] [-r HOST] [-k KAFKA_HOME] -d LOG_DIR [-d LOG_DIR]... [-l LOGS]...
#
#   -o OUT         a folder with room for the copy; OUT/broker-BROKER must not be there yet
#   -b BROKER      the broker's id (node.id)
#   -s STATE       live, stopped or crashed; by default stopped where every log dir has a clean-shutdown marker
#   -d LOG_DIR     a folder of log.dirs; again for each
#   -l LOGS        the folder with server.log and kafka-request.log, or one such file; again for each
#   -k KAFKA_HOME  where Kafka is installed, for its version and the settings with which the broker runs
#   -r HOST        ask this host for its time by ssh, so that clocks can be compared
#
# It reads the broker's files and writes into OUT alone. Run it on each broker as close in time as you can, and hand
# OUT over as it is. The order matters where a broker runs: what it deletes soon comes first (file.delete.delay.ms is a
# minute), checkpoints come before the logs they speak of, indexes before their segments, and the brokers' own logs
# last, so that they tell of everything that the copied disks show.
set -u
umask 077
LC_ALL=C
export LC_ALL

# Names of files may hold anything: what is no plain letter is told as a question mark.
say() { printf '%s\n' "$*" | tr -c '\n -~' '?' >&2; }
die() { say "collect.sh: $*"; exit 2; }
usage() { sed -n '4p' "$0" 2>/dev/null | cut -c5- >&2; die "$*"; }

out='' broker='' state='' host='' home='' dirs='' logs=''
newline='
'
while getopts o:b:s:d:l:k:r:h option; do
  case $option in
    o) out=$OPTARG ;;
    b) broker=$OPTARG ;;
    s) state=$OPTARG ;;
    d) dirs=$dirs$OPTARG$newline ;;
    l) logs=$logs$OPTARG$newline ;;
    k) home=$OPTARG ;;
    r) host=$OPTARG ;;
    *) usage "see the head of this script" ;;
  esac
done
if [ -z "$out" ] || [ -z "$broker" ] || [ -z "$dirs" ]; then usage "-o, -b and -d are needed"; fi
case $broker in *[!0-9]*) usage "-b $broker: expected a number" ;; esac
case $state in ''|live|stopped|crashed) ;; *) usage "-s $state: expected live, stopped or crashed" ;; esac
target=$out/broker-$broker
[ ! -e "$target" ] || die "$target is there already: nothing is written over"
mkdir -p "$target" || die "cannot write in $out"
manifest=$target/tidemark-collect.manifest

sum() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 <"$1" | cut -d' ' -f1
  else echo -
  fi
}
note() { printf '%s\n' "$*" >>"$manifest"; }

# take FILE NAME: copy one file to $target/NAME, once, and note what was copied.
take() {
  if [ ! -f "$1" ] || [ -e "$target/$2" ]; then return 0; fi
  case $2 in *"$newline"*) say "skipped, its name has a line end: $2"; return 0 ;; esac
  mkdir -p "$(dirname "$target/$2")" || die "cannot write in $target"
  if cp -p -- "$1" "$target/$2" 2>/dev/null; then
    note "file $(sum "$target/$2") $(wc -c <"$target/$2" | tr -d ' ') $2"
  else
    rm -f "$target/$2"
    [ ! -f "$1" ] || die "cannot copy $1: is the disk full?"
    note "vanished $2"
  fi
}

# take_all DIR NAME PATTERN...: files of a folder whose names match, in the order of their names.
take_all() {
  from=$1 as=$2
  shift 2
  for pattern in "$@"; do
    # shellcheck disable=SC2231  # the pattern is meant to be one
    for file in "$from"/$pattern; do
      [ -f "$file" ] && take "$file" "$as/${file##*/}"
    done
  done
}

# each_dir COMMAND: run it with every log dir and the name of its copy.
each_dir() {
  number=0 name=data
  while IFS= read -r dir; do
    [ -n "$dir" ] || continue
    number=$((number + 1))
    [ "$number" -eq 1 ] || name=data-disk$number
    "$1" "$dir" "$name"
  done <<EOF
$dirs
EOF
}

check_dir() { if [ ! -d "$1" ] || [ ! -r "$1" ]; then die "$1: expected a log dir that can be read"; fi; }
find_marker() { [ -f "$1/.kafka_cleanshutdown" ] || marked=no; }

fading() {
  for folder in "$1"/*-delete "$1"/*-stray; do
    [ -d "$folder" ] && replica "$folder" "$2/${folder##*/}"
  done
  for folder in "$1"/*-*; do
    [ -d "$folder" ] && take_all "$folder" "$2/${folder##*/}" '*.deleted' '*.swap' '*.cleaned'
  done
}

checkpoints() {
  take_all "$1" "$2" meta.properties .kafka_cleanshutdown '*-checkpoint' bootstrap.checkpoint
}

replica() {
  take_all "$1" "$2" partition.metadata quorum-state '*.checkpoint' '*.snapshot' '*.index' '*.timeindex' '*.txnindex' \
    '*.log' leader-epoch-checkpoint
}

replicas() {
  for folder in "$1"/*-*; do
    case $folder in *-delete | *-stray) continue ;; esac
    [ -d "$folder" ] && replica "$folder" "$2/${folder##*/}"
  done
}

names_broker() { grep -Eq "^ *(node|broker)\.id *[=:] *$broker *\$" "$1" 2>/dev/null; }

# serves FILE: whether these settings are the broker's and name a log dir that is copied; another cluster's broker of
# the same id may run here too.
serves() {
  names_broker "$1" || return 1
  used=,$(sed -n 's/^ *log\.dirs\{0,1\} *[=:] *//p' "$1" | tr -d ' \r' | tr '\n' ','),
  while IFS= read -r dir; do
    [ -n "$dir" ] || continue
    case $used in *,"${dir%/}",* | *,"${dir%/}"/,* | *,"$(cd "$dir" && pwd -P)",*) return 0 ;; esac
  done <<EOF
$dirs
EOF
  return 1
}

# in_use: the settings with which a Kafka process of this broker runs, by the list of processes.
in_use() {
  { ps -A -ww -o pid= -o args= 2>/dev/null || ps -o pid,args 2>/dev/null; } | while read -r process words; do
    case $words in *' kafka.Kafka '*) ;; *) continue ;; esac
    file=${words##* kafka.Kafka }
    file=${file%% *}
    case $file in /*) from='' ;; *) from=/proc/$process/cwd/ ;; esac
    if serves "$from$file"; then
      printf '%s\n' "$from$file"
      break
    fi
  done
}

# choose_settings: of several properties files the one in use, else one that names the broker, else the first.
choose_settings() {
  chosen=$(in_use) why="with which broker $broker runs"
  [ -z "$chosen" ] || return 0
  for name in server.properties broker.properties kraft/server.properties kraft/broker.properties; do
    file=$home/config/$name
    if names_broker "$file"; then chosen=$file why="which names broker $broker" && return 0; fi
    if [ -f "$file" ] && [ -z "$chosen" ]; then chosen=$file why="the first there: none names broker $broker"; fi
  done
}

each_dir check_dir
marked=yes
each_dir find_marker
if [ -z "$state" ]; then
  if [ "$marked" = yes ]; then state=stopped; else state=live; fi
fi

note "tidemark-collect/1"
note "broker $broker"
note "state $state"
note "started $(date -u +%Y-%m-%dT%H:%M:%SZ)"
note "system $(uname -srm)"
if [ -n "$host" ]; then
  before=$(date +%s)
  there=$(ssh -o BatchMode=yes -o ConnectTimeout=5 "$host" date +%s 2>/dev/null) || there=''
  after=$(date +%s)
  case $there in
    '' | *[!0-9]*) note "clock unknown: $host did not answer" ;;
    *) note "clock $((there - (before + after) / 2)) seconds behind $host, within $((after - before + 1))" ;;
  esac
fi
# Settings that tell how logs are replicated, by parts of their names. No other line is copied: it may hold a secret.
settings='cleanup\.policy|epoch|isr|flush|format\.version|insync|log\.dir|node\.id|broker\.id|broker\.rack|cleaner'
settings="$settings|preallocate|process\.roles|protocol\.version|replica|replication|retention|segment|timestamp"
settings="$settings|unclean|expiration\.ms|message\.max|max\.message|roll|quorum\.voters|num\.partitions"
settings="$settings|storage\.system"
if [ -n "$home" ]; then
  [ -d "$home" ] || die "-k $home: expected the folder where Kafka is installed"
  for jar in "$home"/libs/kafka_*.jar "$home"/libs/kafka-clients-*.jar; do
    [ -f "$jar" ] && note "version ${jar##*/}"
  done
  choose_settings
  if [ -n "$chosen" ]; then
    note "settings $chosen, $why"
    say "settings: $chosen, $why"
    clean=$out/.properties-$broker-$$
    grep -E "^ *[A-Za-z0-9._-]*($settings)[A-Za-z0-9._-]* *[=:]" "$chosen" |
      grep -Eiv '^[^=:]*(password|secret|jaas|credential|token|key)' >"$clean"
    take "$clean" config/server.properties
    rm -f "$clean"
  fi
fi

each_dir fading
each_dir checkpoints
each_dir replicas
each_dir fading # what was marked for deletion meanwhile

place=logs
while IFS= read -r log; do
  [ -n "$log" ] || continue
  if [ -d "$log" ]; then
    take_all "$log" "$place" 'server.log*' 'controller.log*' 'state-change.log*' 'kafka-request.log*' '*server*.out'
  elif [ -f "$log" ]; then
    take "$log" "$place/${log##*/}"
  else
    say "no such log: $log"
  fi
done <<EOF
$logs
EOF

note "ended $(date -u +%Y-%m-%dT%H:%M:%SZ)"
note "end $(grep -c '^file ' "$manifest") files"
how="--copied $state"
[ "$marked" = no ] || how=''
say "$target: $(grep -c '^file ' "$manifest") files. When all brokers are in $out: tidemark audit $out $how"
