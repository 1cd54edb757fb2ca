import java.util.Scanner;

/** The same as elapsed.js, in Java. It also sleeps, and ends if a sleep is too short. */
class Elapsed {
    public static void main(String[] args) throws InterruptedException {
        Scanner lines = new Scanner(System.in);
        long wall = 0, monotonic = 0;
        while (lines.hasNextLine()) {
            String line = lines.nextLine(), answer = "{\"type\":\"ok\"}";
            if (line.contains("\"type\":\"init\"")) {
                answer = "{\"type\":\"ready\"}";
            } else if (line.contains("\"type\":\"release\"")) {
                answer = "{\"type\":\"released\"}";
            } else if (line.contains("\"type\":\"acquire\"")) {
                wall = System.currentTimeMillis();
                monotonic = System.nanoTime();
                Thread.sleep(50);
                if (System.nanoTime() - monotonic < 40_000_000) {
                    return;
                }
                answer = "{\"type\":\"acquired\",\"until\":" + (wall + 400) + "}";
            } else if (line.contains("\"type\":\"extend\"")) {
                long passed = System.currentTimeMillis() - wall, counted = (System.nanoTime() - monotonic) / 1000000;
                answer = "{\"type\":\"failed\",\"error\":\"" + passed + " " + counted + "\"}";
            }
            System.out.println(answer);
        }
    }
}
