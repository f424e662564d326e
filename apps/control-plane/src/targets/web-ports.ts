/** Lower ports are privileged; of those only 80 and 443 are web ports. */
const FIRST_FREE_PORT = 1024;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

/**
 * Unprivileged ports of services that are not web servers: a POST to them could be executed as commands or control a
 * machine.
 */
const OTHER_SERVICES: ReadonlySet<number> = new Set([
  // The bad ports of the Fetch standard (Port blocking) from 1024 on: telephony, files, X11, printing, IRC, Amanda.
  ...[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ],
  // SMPP.
  ...[2775, 3550],
  // Databases, caches and searches: SQL Server, Oracle, MySQL, PostgreSQL, PgBouncer, Redis with Sentinel, Cassandra,
  // Elasticsearch, Memcached, MongoDB.
  ...[1433, 1521, 3306, 5432, 6432, 6379, 16379, 26379, 9042, 9200, 9300, 11211, 27017, 27018, 27019],
  // Brokers and coordination: ZooKeeper, etcd, NATS, AMQP, MQTT, Kafka.
  ...[2181, 2379, 2380, 4222, 5671, 5672, 1883, 8883, 9092],
  // Control of machines: Docker, RDP, VNC, WinRM, Kubernetes' API and kubelet.
  ...[2375, 2376, 3389, 5900, 5985, 5986, 6443, 10250, 10255],
]);

/** Whether the port of an http or https URL is allowed for webhooks: 80, 443, or from 1024 on a port not in OTHER_SERVICES. */
export function isWebPort({ port }: URL): boolean {
  if (port === '') return true;
  const number = Number(port);
  return WEB_PORTS.has(number) || (number >= FIRST_FREE_PORT && !OTHER_SERVICES.has(number));
}
