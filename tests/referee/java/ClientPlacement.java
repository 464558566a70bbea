import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/**
 * Reads cases from standard input, one a line, and prints what the Java client answers.
 *
 * murmur2 HEX                                                        the key's positive hash
 * group NAME COUNT                                                   the partition that keeps a group
 * subscription VERSION TOPIC+TOPIC OWNED RACK                        its bytes; OWNED as TOPIC-PARTITION+…, or -
 * assignment VERSION OWNED                                           its bytes
 * assign ASSIGNOR TOPIC=COUNT[@RACKS;…],… MEMBER[@RACK][#INSTANCE]=TOPIC+TOPIC,…      each member's partitions
 *
 * Behind a member's topics may stand what it owned in generation 1, as `!t-0+t-3`.
 * RACKS are those of a partition's replicas, `a+b`, one set a partition.
 */
public final class ClientPlacement {
    private static final Map<String, ConsumerPartitionAssignor> ASSIGNORS = Map.of(
        "range", new RangeAssignor(), "roundrobin", new RoundRobinAssignor(), "sticky", new StickyAssignor(),
        "cooperative-sticky", new CooperativeStickyAssignor());

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "murmur2":
                    System.out.println(Utils.toPositive(Utils.murmur2(bytes(words[1]))));
                    break;
                case "group":
                    System.out.println(Utils.abs(words[1].hashCode()) % Integer.parseInt(words[2]));
                    break;
                case "subscription":
                    Subscription wanted = new Subscription(Arrays.asList(words[2].split("\\+")), null,
                        partitions(words[3]), 4, words[4].equals("-") ? Optional.empty() : Optional.of(words[4]));
                    System.out.println(
                        hex(ConsumerProtocol.serializeSubscription(wanted, Short.parseShort(words[1]))));
                    break;
                case "assignment":
                    System.out.println(hex(ConsumerProtocol.serializeAssignment(
                        new Assignment(partitions(words[2])), Short.parseShort(words[1]))));
                    break;
                default:
                    System.out.println(assigned(words[1], words[2], words[3]));
            }
        }
    }

    private static List<TopicPartition> partitions(String told) {
        List<TopicPartition> own = new ArrayList<>();
        for (String each : told.equals("-") ? new String[0] : told.split("\\+")) {
            int at = each.lastIndexOf('-');
            own.add(new TopicPartition(each.substring(0, at), Integer.parseInt(each.substring(at + 1))));
        }
        return own;
    }

    private static String hex(ByteBuffer bytes) {
        StringBuilder out = new StringBuilder();
        while (bytes.hasRemaining()) {
            out.append(String.format("%02x", bytes.get()));
        }
        return out.toString();
    }

    private static byte[] bytes(String hex) {
        byte[] out = new byte[hex.length() / 2];
        for (int at = 0; at < out.length; at++) {
            out[at] = (byte) Integer.parseInt(hex.substring(2 * at, 2 * at + 2), 16);
        }
        return out;
    }

    private static String assigned(String assignor, String topics, String members) {
        Map<String, Node> racks = new HashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        for (String topic : topics.split(",")) {
            String[] parts = topic.split("@");
            String name = parts[0].split("=")[0];
            int count = Integer.parseInt(parts[0].split("=")[1]);
            String[] sets = parts.length > 1 ? parts[1].split(";") : new String[0];
            for (int partition = 0; partition < count; partition++) {
                String[] own = sets.length > 0 ? sets[partition].split("\\+") : new String[] {""};
                Node[] nodes = Arrays.stream(own)
                    .map(rack -> racks.computeIfAbsent(rack,
                        r -> new Node(racks.size() + 1, "host", 1, r.isEmpty() ? null : r)))
                    .toArray(Node[]::new);
                partitions.add(new PartitionInfo(name, partition, nodes[0], nodes, nodes));
            }
        }
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (String member : members.split(",")) {
            String[] parts = member.split("=");
            String[] wanted = parts[1].split("!");
            List<TopicPartition> owned = partitions(wanted.length > 1 ? wanted[1] : "-");
            List<String> subscribed = Arrays.asList(wanted[0].split("\\+"));
            String instance = parts[0].contains("#") ? parts[0].split("#")[1] : null;
            String[] who = parts[0].split("#")[0].split("@");
            Subscription subscription = new Subscription(subscribed, null, owned, owned.isEmpty() ? -1 : 1,
                who.length > 1 ? Optional.of(who[1]) : Optional.empty());
            subscription.setGroupInstanceId(Optional.ofNullable(instance));
            subscriptions.put(who[0], subscription);
        }
        Cluster cluster = new Cluster("c", racks.values(), partitions, Collections.emptySet(), Collections.emptySet());
        Map<String, Assignment> answer =
            ASSIGNORS.get(assignor).assign(cluster, new GroupSubscription(subscriptions)).groupAssignment();
        List<String> told = new ArrayList<>();
        for (Map.Entry<String, Assignment> each : new TreeMap<>(answer).entrySet()) {
            TreeSet<String> own = new TreeSet<>();
            for (TopicPartition partition : each.getValue().partitions()) {
                own.add(String.format("%s-%03d", partition.topic(), partition.partition()));
            }
            told.add(each.getKey() + "=" + String.join("+", own));
        }
        return String.join(",", told);
    }
}
