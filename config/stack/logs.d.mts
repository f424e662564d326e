export function followLog(file: string, show: (line: string) => void, maxLogBytes?: number): () => void;
