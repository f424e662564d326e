export const PREVIOUS_RELEASE: string;
