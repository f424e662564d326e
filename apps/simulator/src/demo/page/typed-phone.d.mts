export declare function readTypedPhone(text: string): string | null;
