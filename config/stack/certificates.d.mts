export function ensureCertificates(options: {
  dataDir: string;
  hosts: string[];
  log: (message: string) => void;
  nowMs?: number;
}): Promise<{ caFile: string; certFile: string; keyFile: string }>;
