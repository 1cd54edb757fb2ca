import java.util.Scanner;

/** The same as elapsed.js, in Java. */
class Elapsed {
    public static void main(String[] args) {
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
                answer = "{\"type\":\"acquired\",\"until\":" + (wall + 400) + "}";
            } else if (line.contains("\"type\":\"extend\"")) {
                long passed = System.currentTimeMillis() - wall, counted = (System.nanoTime() - monotonic) / 1000000;
                answer = "{\"type\":\"failed\",\"error\":\"" + passed + " " + counted + "\"}";
            }
            System.out.println(answer);
        }
    }
}
