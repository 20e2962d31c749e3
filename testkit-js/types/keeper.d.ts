export type Running = {
    state: {
        url: string;
        token?: string;
    };
    stop: () => Promise<void>;
};
