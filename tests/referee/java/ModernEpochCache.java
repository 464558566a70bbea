import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

/** Plays each line of stdin on a fresh LeaderEpochFileCache of Kafka 3.8 and later; prints one answer a line. */
public class ModernEpochCache {
    static final Scheduler NEVER_FLUSH = new Scheduler() {
        public void startup() { }
        public void shutdown() { }
        public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) { return null; }
        public void resizeThreadPool(int size) { }
    };

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("epoch-cache");
        Path file = folder.resolve("leader-epoch-checkpoint");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder answers = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.trim().split(" ");
            // an absent file is an empty cache; entries are loaded from it as a broker loads them
            Files.deleteIfExists(file);
            if (!words[0].equals("-")) Files.writeString(file, checkpoint(words[0]));
            LeaderEpochFileCache cache = new LeaderEpochFileCache(
                new TopicPartition("t", 0),
                new LeaderEpochCheckpointFile(file.toFile(), new LogDirFailureChannel(1)),
                NEVER_FLUSH);
            answers.append(play(cache, words)).append('\n');
        }
        System.out.print(answers);
        Files.deleteIfExists(file);
        Files.delete(folder);
    }

    static String checkpoint(String entries) {
        String[] listed = entries.split(",");
        StringBuilder text = new StringBuilder("0\n" + listed.length + "\n");
        for (String entry : listed) text.append(entry.replace(':', ' ')).append('\n');
        return text.toString();
    }

    static String play(LeaderEpochFileCache cache, String[] words) {
        long first = Long.parseLong(words[2]);
        switch (words[1]) {
            case "end": {
                Map.Entry<Integer, Long> end = cache.endOffsetFor((int) first, Long.parseLong(words[3]));
                return end.getKey() + ":" + end.getValue();
            }
            case "at": return cache.epochForOffset(first).isPresent() ? "" + cache.epochForOffset(first).getAsInt() : "-";
            case "assign": cache.assign((int) first, Long.parseLong(words[3])); break;
            case "from-end": cache.truncateFromEndAsyncFlush(first); break;
            case "from-start": cache.truncateFromStartAsyncFlush(first); break;
            default: throw new IllegalArgumentException(words[1]);
        }
        String shown = cache.epochWithOffsets().entrySet().stream()
            .map(entry -> entry.getKey() + ":" + entry.getValue()).collect(Collectors.joining(","));
        return shown.isEmpty() ? "-" : shown;
    }
}
