import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

/** Groups whose members come, go and read other topics, assigned by the client's own assignors: a line of JSON a generation. */
public final class ChangingGroups {
    private static final String[][] ASSIGNORS = {
        {"RangeAssignor", "range"}, {"RoundRobinAssignor", "roundrobin"},
        {"StickyAssignor", "sticky"}, {"CooperativeStickyAssignor", "cooperative-sticky"}};
    private static final int ROUNDS = 8;

    private static final class Member {
        String id, instance, rack;
        List<String> topics;
        ConsumerPartitionAssignor assignor;
        List<TopicPartition> has = new ArrayList<>();
        int generation = -1;
    }

    private final Random random;
    private final String[] named;
    private final boolean cooperative, racked, alike;
    private final List<Node> nodes = new ArrayList<>();
    private final TreeMap<String, List<List<Node>>> homes = new TreeMap<>();
    private final List<Member> members = new ArrayList<>();
    private int generation, made;

    private ChangingGroups(int number, boolean racked) {
        random = new Random(number);
        named = ASSIGNORS[number % ASSIGNORS.length];
        cooperative = named[1].startsWith("cooperative");
        this.racked = racked;
        alike = random.nextBoolean();
        for (int id = 1, count = 1 + random.nextInt(4); id <= count; id++)
            nodes.add(new Node(id, "host", 9092, racked ? "r" + random.nextInt(3) : null));
        int equal = random.nextBoolean() ? 1 + random.nextInt(8) : 0;
        for (int number_ = 0, count = 1 + random.nextInt(5); number_ < count; number_++) {
            List<List<Node>> own = new ArrayList<>();
            for (int left = equal > 0 ? equal : 1 + random.nextInt(9); left > 0; left--) own.add(home());
            homes.put("t" + number_, own);
        }
    }

    private List<Node> home() {
        return some(nodes, Math.min(nodes.size(), 1 + random.nextInt(2)));
    }

    private <T> List<T> some(Collection<T> all, int count) {
        List<T> shuffled = new ArrayList<>(all);
        Collections.shuffle(shuffled, random);
        return new ArrayList<>(shuffled.subList(0, count));
    }

    private List<String> topics() {
        return some(homes.keySet(), alike ? homes.size() : 1 + random.nextInt(homes.size()));
    }

    private void change(boolean first) throws Exception {
        int what = first ? 0 : random.nextInt(10);
        if (what < 4 || members.isEmpty()) {
            Member member = new Member();
            member.id = "c" + random.nextInt(100) + "-" + made++;
            member.instance = random.nextInt(4) == 0 ? "i" + random.nextInt(50) + "-" + made : null;
            member.rack = racked && random.nextInt(5) > 0 ? "r" + random.nextInt(4) : null;
            member.topics = topics();
            Class<?> assignor = Class.forName("org.apache.kafka.clients.consumer." + named[0]);
            member.assignor = (ConsumerPartitionAssignor) assignor.getDeclaredConstructor().newInstance();
            members.add(member);
        } else if (what < 7 && members.size() > 1) {
            members.remove(random.nextInt(members.size()));
        } else if (what == 7) {
            members.get(random.nextInt(members.size())).topics = topics();
        } else if (what == 8) {
            homes.get(some(homes.keySet(), 1).get(0)).add(home());
        }
    }

    private Subscription subscription(Member member) throws Exception {
        ByteBuffer data = member.assignor.subscriptionUserData(new HashSet<>(member.topics));
        List<TopicPartition> owned = cooperative ? member.has : Collections.emptyList();
        Subscription told = new Subscription(member.topics, data, owned);
        for (Constructor<?> made : Subscription.class.getConstructors())
            if (made.getParameterCount() == 5)  // racks and generations are told since 3.5
                told = (Subscription) made.newInstance(
                    member.topics, data, owned, member.generation, Optional.ofNullable(member.rack));
        if (member.instance != null) told.setGroupInstanceId(Optional.of(member.instance));
        return told;
    }

    private Cluster cluster() {
        List<PartitionInfo> partitions = new ArrayList<>();
        homes.forEach((topic, own) -> {
            for (int partition = 0; partition < own.size(); partition++) {
                Node[] home = own.get(partition).toArray(new Node[0]);
                partitions.add(new PartitionInfo(topic, partition, home[0], home, home));
            }
        });
        return new Cluster("c", nodes, partitions, Collections.emptySet(), Collections.emptySet());
    }

    /** One generation; whether somebody gave partitions up, so that the group assigns again. */
    private boolean assign() throws Exception {
        generation++;
        Map<String, Subscription> told = new HashMap<>();
        for (Member member : members) told.put(member.id, subscription(member));
        Member leader = members.get(random.nextInt(members.size()));
        Map<String, Assignment> given =
            leader.assignor.assign(cluster(), new GroupSubscription(told)).groupAssignment();
        System.out.println(generation(given));
        boolean revoked = false;
        for (Member member : members) {
            revoked |= !given.get(member.id).partitions().containsAll(member.has);
            if (random.nextInt(12) == 0) continue;  // it misses the generation, and keeps what it had
            member.has = new ArrayList<>(given.get(member.id).partitions());
            member.generation = generation;
            member.assignor.onAssignment(given.get(member.id), new ConsumerGroupMetadata(
                "g", generation, member.id, Optional.ofNullable(member.instance)));
        }
        return revoked;
    }

    private String generation(Map<String, Assignment> given) {
        return "{\"assignor\":" + quoted(named[1])
            + ",\"homes\":" + object(homes, own -> list(own, home -> list(home, Node::idString)))
            + ",\"racks\":" + (racked ? object(racks(), ChangingGroups::quoted) : "{}")
            + ",\"members\":" + list(members, member -> "{\"id\":" + quoted(member.id)
                + ",\"instance\":" + quoted(member.instance) + ",\"rack\":" + quoted(member.rack)
                + ",\"topics\":" + list(member.topics, ChangingGroups::quoted)
                + ",\"owned\":" + held(cooperative ? member.has : Collections.emptyList())
                + ",\"has\":" + held(given.get(member.id).partitions()) + "}") + "}";
    }

    private TreeMap<String, String> racks() {
        TreeMap<String, String> told = new TreeMap<>();
        for (Node node : nodes) told.put(node.idString(), node.rack());
        return told;
    }

    private static String held(Collection<TopicPartition> partitions) {
        TreeMap<String, List<Integer>> byTopic = new TreeMap<>();
        for (TopicPartition each : partitions)
            byTopic.computeIfAbsent(each.topic(), topic -> new ArrayList<>()).add(each.partition());
        return object(byTopic, List::toString);
    }

    private static <T> String object(Map<String, T> map, Function<T, String> told) {
        return map.entrySet().stream().map(each -> quoted(each.getKey()) + ":" + told.apply(each.getValue()))
            .collect(Collectors.joining(",", "{", "}"));
    }

    private static <T> String list(Collection<T> all, Function<T, String> told) {
        return all.stream().map(told).collect(Collectors.joining(",", "[", "]"));
    }

    private static String quoted(String text) {
        return text == null ? "null" : "\"" + text + "\"";
    }

    public static void main(String[] arguments) throws Exception {
        boolean racked = arguments[1].equals("racks");
        for (int number = 0; number < Integer.parseInt(arguments[0]); number++) {
            ChangingGroups group = new ChangingGroups(number, racked);
            for (int round = 0; round < ROUNDS; round++) {
                for (int left = round == 0 ? 5 : 2; left > 0; left--) group.change(round == 0);
                for (int more = 3; more > 0 && group.assign() && group.cooperative; more--);
            }
        }
    }
}
