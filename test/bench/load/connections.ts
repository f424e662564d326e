import net from 'node:net';
import tls from 'node:tls';

/** Opens connections and sends nothing over them. */
export interface ConnectTask {
  readonly port: number;
  readonly isTls: boolean;
  readonly count: number;
  /** Each is used for as many connections as the others: a server may limit those of one. */
  readonly addresses: readonly string[];
}

/** Connections that were opened, and of these the ones that the server has not closed since. */
export interface ConnectionCounts {
  readonly opened: number;
  readonly open: number;
}

const AT_ONCE = 200;
const OPEN_MS = 10_000;

const sockets = new Set<net.Socket>();

/** Resolves once it is open, or has failed. */
function openOne({ port, isTls, addresses }: ConnectTask, at: number): Promise<boolean> {
  const localAddress = addresses[at % addresses.length];
  const options = { host: '127.0.0.1', port, ...(localAddress === undefined ? {} : { localAddress }) };
  const socket = isTls ? tls.connect({ ...options, rejectUnauthorized: false }) : net.connect(options);
  return new Promise((resolve) => {
    const tooLate = setTimeout(() => socket.destroy(), OPEN_MS);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(tooLate);
      sockets.add(socket);
      resolve(true);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(tooLate);
      sockets.delete(socket);
      resolve(false);
    });
    socket.resume();
  });
}

async function open(task: ConnectTask): Promise<ConnectionCounts> {
  let next = 0;
  let opened = 0;
  const openInTurn = async (): Promise<void> => {
    while (next < task.count) if (await openOne(task, next++)) opened += 1;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openInTurn));
  return { opened, open: sockets.size };
}

process.on('message', (task: ConnectTask) => {
  void open(task).then((counts) => process.send?.(counts));
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
