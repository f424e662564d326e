export function rerunCommand(
  kind: string,
  failed: { readonly file: string; readonly name: string; readonly isTest?: boolean },
): string;
