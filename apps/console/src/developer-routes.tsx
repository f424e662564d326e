/** The pages of an account's own developers. */
export const developerRoutes = [] as const;
