import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import kafka.server.LogOffsetMetadata;
import kafka.server.checkpoints.LeaderEpochCheckpoint;
import kafka.server.epoch.EpochEntry;
import kafka.server.epoch.LeaderEpochFileCache;
import org.apache.kafka.common.TopicPartition;
import scala.Function0;
import scala.Tuple2;
import scala.collection.JavaConverters;

/** Plays each line of stdin on a fresh LeaderEpochFileCache of Kafka 1.1 or 2.0.0; prints one answer a line. */
public class OldEpochCache {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder answers = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            answers.append(play(line.trim().split(" "))).append('\n');
        System.out.print(answers);
    }

    static class InMemory implements LeaderEpochCheckpoint {
        final List<EpochEntry> entries = new ArrayList<>();

        InMemory(String text) {
            if (text.equals("-")) return;
            for (String entry : text.split(",")) {
                String[] pair = entry.split(":");
                entries.add(new EpochEntry(Integer.parseInt(pair[0]), Long.parseLong(pair[1])));
            }
        }

        public void write(scala.collection.Seq<EpochEntry> written) { }

        public scala.collection.Seq<EpochEntry> read() { return JavaConverters.asScalaBuffer(entries); }
    }

    static String play(String[] words) throws Exception {
        long first = Long.parseLong(words[2]);
        long logEndOffset = words.length > 3 ? Long.parseLong(words[3]) : 0;
        Function0<LogOffsetMetadata> logEnd = () -> new LogOffsetMetadata(logEndOffset, 0L, 0);
        LeaderEpochFileCache cache =
            new LeaderEpochFileCache(new TopicPartition("t", 0), logEnd, new InMemory(words[0]));
        switch (words[1]) {
            case "end": {
                // 1.1 returns the offset alone, 2.0.0 the epoch too
                Object end = LeaderEpochFileCache.class.getMethod("endOffsetFor", int.class).invoke(cache, (int) first);
                return end instanceof Tuple2 ? ((Tuple2<?, ?>) end)._1() + ":" + ((Tuple2<?, ?>) end)._2() : "-1:" + end;
            }
            case "assign": cache.assign((int) first, logEndOffset); break;
            case "from-end": cache.clearAndFlushLatest(first); break;
            case "from-start": cache.clearAndFlushEarliest(first); break;
            default: throw new IllegalArgumentException(words[1]);
        }
        String shown = JavaConverters.seqAsJavaList(cache.epochEntries()).stream()
            .map(entry -> entry.epoch() + ":" + entry.startOffset()).collect(Collectors.joining(","));
        return shown.isEmpty() ? "-" : shown;
    }
}
