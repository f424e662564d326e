import { ApiError } from '../api/client.js';

/** Saves a text as a file of the reader's. */
export function saveText(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Saves a list of the API as a table. Throws ApiError. */
export async function saveCsv(name: string, path: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const answer = await fetch(`/console/api${path}`, { headers });
  if (!answer.ok) throw new ApiError(answer.status, 'UNREADABLE', `The server answered ${String(answer.status)}.`);
  saveText(name, await answer.text(), 'text/csv');
}
